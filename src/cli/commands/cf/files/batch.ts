import { setFlagsFromString } from 'node:v8';
import type { Language } from '../../../../fiscal/index.ts';
import { bilingualError, CancelledError, type CliError, EXIT } from '../../../errors/cli-error.ts';
import type { Context } from '../../../framework/context.ts';
import { nothing, type Result } from '../../../terminal/result.ts';
import { createProgressLine, drawBar, type ProgressLine } from '../../../terminal/status-line.ts';
import { printStatus, type Terminal } from '../../../terminal/terminal.ts';
import { TEXTS } from '../texts.ts';
import {
  type BadLine,
  type BatchOutputs,
  type ByteOutput,
  openOutputs,
  openRowOutput,
  type RowOutput,
} from './row-output.ts';
import { openSource, type StreamSource } from './stream-source.ts';

/*
 * Processes many lines: reads a stream, writes a result for each good line, in order, and continues after bad ones. Bad
 * lines are named by number on stderr, never by content. With --rejects they are written into a file with their content, to
 * be corrected and read again.
 */

export type BatchOptions = {
  readonly file: string | undefined;
  readonly rejects: string | undefined;
  /** Whether each line should be a code. Then several lines of CSV in a row mean that --column was forgotten. */
  readonly linesAreCodes?: boolean | undefined;
  /** File of the written table; undefined for stdout. */
  readonly out?: string | undefined;
  readonly language: Language;
};

export type Batch = {
  /** Standard output. */
  readonly out: ByteOutput;
  readonly countGood: () => void;
  readonly reportBad: (bad: BadLine) => void;
  /** Opens the output of the rows of a table; called once. */
  readonly openRows: (delimiter: string) => Promise<RowOutput>;
  /** Called after each piece of input: writes, waits, draws. Throws CancelledError at Ctrl-C. */
  readonly pause: () => Promise<void>;
};

type Counts = { good: number; bad: number; csvInARow: number; readonly reasons: Map<string, number> };

/** Runs `work` over the input. The exit code is 7 when a line was bad. */
export async function runBatch(
  context: Context,
  options: BatchOptions,
  work: (batch: Batch, source: StreamSource) => Promise<void>,
): Promise<Result> {
  const { terminal, io } = context;
  keepHeapSmall();
  const bar = openProgressLine(terminal);
  const source = await openSource(io, options.file);
  const outputs = await openOutputs(io, options, bar.clear).catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  const counts: Counts = { good: 0, bad: 0, csvInARow: 0, reasons: new Map() };
  const parts: BatchParts = { source, outputs, bar, counts, options, rows: undefined };
  const startedMs = io.clock();
  try {
    await work(createBatch(context, parts), source);
    await parts.rows?.finish();
    bar.clear();
    printStatus(terminal, summary(counts, (io.clock() - startedMs) / 1000, options.language));
    for (const line of reasonLines(counts.reasons)) printStatus(terminal, line);
    return nothing({ exitCode: counts.bad > 0 ? EXIT.negative : EXIT.success });
  } catch (error) {
    bar.clear();
    await parts.rows?.discard();
    // Lines before an error of the input count.
    const failure = await outputs.flush().then(
      () => error,
      (flushError: unknown) => flushError,
    );
    // main reports the error, or ignores it when the reader is gone.
    if (outputs.isStdoutBroken()) return nothing();
    const lines = groupDigits(counts.good + counts.bad);
    throw io.signal.aborted ? new CancelledError(`stopped after ${lines} lines`) : failure;
  } finally {
    await source.close();
    await outputs.close();
  }
}

type BatchParts = {
  readonly source: StreamSource;
  readonly outputs: BatchOutputs;
  readonly bar: ProgressLine;
  readonly counts: Counts;
  readonly options: BatchOptions;
  rows: RowOutput | undefined;
};

function createBatch({ io }: Context, parts: BatchParts): Batch {
  const { source, outputs, bar, counts, options } = parts;
  return {
    out: outputs.out,
    countGood: () => {
      counts.good += 1;
      counts.csvInARow = 0;
    },
    reportBad: (bad) => {
      counts.bad += 1;
      for (const label of bad.labels) counts.reasons.set(label, (counts.reasons.get(label) ?? 0) + 1);
      outputs.reportBad(bad);
      if (options.linesAreCodes !== true) return;
      counts.csvInARow = CSV_DELIMITER.test(bad.input()) ? counts.csvInARow + 1 : 0;
      if (counts.csvInARow >= MAX_CSV_IN_A_ROW) throw columnForgotten();
    },
    openRows: async (delimiter) => {
      parts.rows ??= await openRowOutput(io, outputs.out, {
        out: options.out,
        file: options.file,
        delimiter,
      });
      return parts.rows;
    },
    pause: async () => {
      await parts.rows?.flush();
      await outputs.flush();
      if (io.signal.aborted) throw new CancelledError('stopped');
      const lines = counts.good + counts.bad;
      const progress = { lines, bad: counts.bad, bytes: source.bytesRead(), sizeBytes: source.sizeBytes };
      bar.show((seconds) => progressLine(progress, seconds));
    },
  };
}

const CSV_DELIMITER = /[,;\t|]/;
const MAX_CSV_IN_A_ROW = 100;

function columnForgotten(): CliError {
  return bilingualError(
    [
      `${MAX_CSV_IN_A_ROW} lines in a row are CSV, not codes`,
      'name the column of the codes, such as --column cf, or give its number',
    ],
    [
      `${MAX_CSV_IN_A_ROW} righe di seguito sono CSV, non codici`,
      'indicare la colonna dei codici, per esempio --column cf, o il suo numero',
    ],
  );
}

/** Minimum lines for an estimate of the speed. */
const TELLING_LINES = 1000;
const TELLING_SECONDS = 1;

function summary({ good, bad }: Counts, seconds: number, language: Language): string {
  const lines = good + bad;
  const isTelling = seconds >= TELLING_SECONDS && lines >= TELLING_LINES;
  const speed = isTelling ? ` in ${seconds.toFixed(1)} s (${groupDigits(rate(lines, seconds))}/s)` : '';
  const counts = { lines: groupDigits(lines), good: groupDigits(good), bad: groupDigits(bad) };
  return TEXTS[language].summary(counts) + speed;
}

/** Returns how often each error occurred, the most frequent first. */
function reasonLines(reasons: ReadonlyMap<string, number>): readonly string[] {
  return [...reasons]
    .sort(([, one], [, other]) => other - one)
    .map(([label, count]) => `${groupDigits(count).padStart(10)}  ${label}`);
}

/** Progress of a run over many lines. */
type Progress = {
  readonly lines: number;
  readonly bad: number;
  readonly bytes: number;
  readonly sizeBytes: number | undefined;
};

/** Most runs are over before. */
const PROGRESS_DELAY_MS = 100;

/** No progress is shown where the results are. */
function openProgressLine({ io, isTerminal }: Terminal): ProgressLine {
  const none = { show: () => undefined, clear: () => undefined };
  return isTerminal ? none : createProgressLine(io, PROGRESS_DELAY_MS);
}

function progressLine(progress: Progress, elapsedSeconds: number): string {
  const { lines, bad, bytes, sizeBytes } = progress;
  const parts = [`${groupDigits(lines)} lines`, `${groupDigits(rate(lines, elapsedSeconds))}/s`];
  if (bad > 0) parts.push(`${groupDigits(bad)} bad`);
  if (sizeBytes === undefined || sizeBytes === 0) return parts.join(', ');
  const share = Math.min(1, bytes / sizeBytes);
  const left = bytes === 0 ? undefined : Math.ceil((elapsedSeconds / share) * (1 - share));
  if (left !== undefined) parts.push(`${left} s left`);
  return `${drawBar(share)}  ${parts.join(', ')}`;
}

/** Formats `1,234,567` without Intl, whose tables take longer to load than small runs. */
function groupDigits(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function rate(lines: number, elapsedSeconds: number): number {
  return elapsedSeconds <= 0 ? lines : lines / elapsedSeconds;
}

/**
 * Keeps the heap small for many rows, of which nearly all objects are short-lived. V8 doubles the space for young objects,
 * up to 64 MB, while a program continues to make objects: here that saves no time and costs a third of the memory. It also
 * lets the old objects of a small heap grow to four times what has survived before it collects them; three times takes as
 * long. V8 reads both flags each time before a space grows.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=200');
}
