import { CancelledError, type CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { nothing, type Result } from '../../terminal/result.ts';
import { printStatus } from '../../terminal/terminal.ts';
import { type BadLine, type BatchOutputs, openOutputs } from './batch-outputs.ts';
import type { ByteOutput } from './byte-output.ts';
import { createProgressBar, grouped, type ProgressBar, rate } from './progress.ts';
import { openSource, type StreamSource } from './stream-source.ts';

/*
 * A run over many: reads a stream, writes a line of result for each good line, in order, and goes on after bad ones.
 * Bad lines are named by number on stderr, never by what is in them; with --rejects they go into a file of their own,
 * with what is in them, to be corrected and read again.
 */

export type BatchOptions = {
  readonly file: string | undefined;
  readonly rejects: string | undefined;
  /** Whether each line is to be a code: lines of CSV in a row then mean that --column was forgotten. */
  readonly linesAreCodes?: boolean | undefined;
};

export type Batch = {
  /** Standard output. */
  readonly out: ByteOutput;
  readonly countGood: () => void;
  readonly reportBad: (bad: BadLine) => void;
  /** After each piece of input, with its size: writes, waits, draws. Throws CancelledError at Ctrl-C. */
  readonly pause: (byteCount: number) => Promise<void>;
};

type Counts = { good: number; bad: number; csvInARow: number; bytes: number };

/** Runs `work` over the input; the exit code is 7 when a line was bad. */
export async function runBatch(
  context: Context,
  options: BatchOptions,
  work: (batch: Batch, source: StreamSource) => Promise<void>,
): Promise<Result> {
  const { terminal, io } = context;
  const bar = createProgressBar(terminal);
  const source = await openSource(io, options.file);
  const outputs = await openOutputs(io, options.rejects, bar.clear).catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  const counts: Counts = { good: 0, bad: 0, csvInARow: 0, bytes: 0 };
  const startedMs = io.clock();
  try {
    await work(
      createBatch(context, { source, outputs, bar, counts, linesAreCodes: options.linesAreCodes === true }),
      source,
    );
    bar.clear();
    printStatus(terminal, summary(counts, (io.clock() - startedMs) / 1000));
    return nothing({ exitCode: counts.bad > 0 ? EXIT.negative : EXIT.success });
  } catch (error) {
    bar.clear();
    // What was done before a fault of the input counts.
    const failure = await outputs.flush().then(
      () => error,
      (flushError: unknown) => flushError,
    );
    // main tells of it, or keeps silent about a reader that has gone away.
    if (outputs.isStdoutBroken()) return nothing();
    const lines = grouped(counts.good + counts.bad);
    throw io.signal.aborted ? new CancelledError(`stopped after ${lines} lines`) : failure;
  } finally {
    await source.close();
    await outputs.close();
  }
}

type BatchParts = {
  readonly source: StreamSource;
  readonly outputs: BatchOutputs;
  readonly bar: ProgressBar;
  readonly counts: Counts;
  readonly linesAreCodes: boolean;
};

function createBatch({ io }: Context, { source, outputs, bar, counts, linesAreCodes }: BatchParts): Batch {
  return {
    out: outputs.out,
    countGood: () => {
      counts.good += 1;
      counts.csvInARow = 0;
    },
    reportBad: (bad) => {
      counts.bad += 1;
      outputs.reportBad(bad);
      if (!linesAreCodes) return;
      counts.csvInARow = CSV_DELIMITER.test(bad.input()) ? counts.csvInARow + 1 : 0;
      if (counts.csvInARow >= MAX_CSV_IN_A_ROW) throw columnForgotten();
    },
    pause: async (byteCount) => {
      counts.bytes += byteCount;
      await outputs.flush();
      if (io.signal.aborted) throw new CancelledError('stopped');
      const lines = counts.good + counts.bad;
      bar.show({ lines, bad: counts.bad, bytes: counts.bytes, sizeBytes: source.sizeBytes });
    },
  };
}

const CSV_DELIMITER = /[,;\t|]/;
const MAX_CSV_IN_A_ROW = 100;

function columnForgotten(): CliError {
  return usageError(
    `${MAX_CSV_IN_A_ROW} lines in a row are CSV, not codes`,
    'name the column of the codes, such as --column cf, or give its number',
  );
}

/** Fewer lines, or less time, say nothing of the speed. */
const TELLING_LINES = 1000;
const TELLING_SECONDS = 1;

function summary({ good, bad }: Counts, seconds: number): string {
  const lines = good + bad;
  const isTelling = seconds >= TELLING_SECONDS && lines >= TELLING_LINES;
  const speed = isTelling ? ` in ${seconds.toFixed(1)} s (${grouped(rate(lines, seconds))}/s)` : '';
  const count = `${grouped(lines)} ${lines === 1 ? 'line' : 'lines'}`;
  return `${count}: ${grouped(good)} good, ${grouped(bad)} bad${speed}`;
}
