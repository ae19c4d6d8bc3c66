import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Context } from '../context.ts';
import { CancelledError, CliError, EXIT } from '../failure.ts';
import { escapeCell } from '../harmless-text.ts';
import { nothing, type Result } from '../result.ts';
import { say } from '../screen.ts';
import { type ByteOutput, createByteOutput } from './byte-output.ts';
import { createProgressBar, grouped, rate } from './progress.ts';
import { openSource, type StreamSource } from './stream-source.ts';

/*
 * A run over many: reads a stream, writes a line of result for each good line, in order, and goes on after bad ones.
 * Bad lines are named by number on stderr, never by what is in them; with --rejects they go into a file of their own,
 * with what is in them, to be corrected and read again.
 */

export type BatchOptions = { readonly file: string | undefined; readonly rejects: string | undefined };

export type BadLine = {
  readonly line: number;
  readonly reason: string;
  /** For people; holds nothing of the line. */
  readonly message: string;
  /** The line itself, for the file of rejects. */
  readonly input: () => string;
};

export type Batch = {
  /** Standard output. */
  readonly out: ByteOutput;
  readonly countGood: () => void;
  readonly reportBad: (bad: BadLine) => void;
  /** After each piece of input, with its size: writes, waits, draws. Throws CancelledError at Ctrl-C. */
  readonly pause: (byteCount: number) => Promise<void>;
};

/** Runs `work` over the input; the exit code is 7 when a line was bad. */
export async function runBatch(
  context: Context,
  options: BatchOptions,
  work: (batch: Batch, source: StreamSource) => Promise<void>,
): Promise<Result> {
  const { screen, io } = context;
  const source = await openSource(io, options.file);
  const rejects = await openRejects(io.workingDirectory, options.rejects).catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  const bar = createProgressBar(screen);
  const counts = { good: 0, bad: 0, bytes: 0 };
  const out = createByteOutput(io.stdout);
  const badLines = createByteOutput(io.stderr);
  const rejected: string[] = [];
  const startedMs = io.clock();
  let isOutputBroken = false;
  const flush = async (): Promise<void> => {
    await out.flush().catch((error: unknown) => {
      isOutputBroken = true;
      throw error;
    });
    if (rejects !== undefined && rejected.length > 0) await rejects.appendFile(rejected.splice(0).join(''));
    await badLines.flush();
  };
  const batch: Batch = {
    out,
    countGood: () => {
      counts.good += 1;
    },
    reportBad: ({ line, reason, message, input }) => {
      if (rejects !== undefined) rejected.push(`${line}\t${reason}\t${message}\t${escapeCell(input())}\n`);
      else badLines.text(`line ${line}: ${reason}: ${message}\n`);
      counts.bad += 1;
    },
    pause: async (byteCount) => {
      counts.bytes += byteCount;
      bar.clear();
      await flush();
      if (io.signal.aborted)
        throw new CancelledError(`stopped after ${grouped(counts.good + counts.bad)} lines`);
      const lines = counts.good + counts.bad;
      bar.show({ lines, bad: counts.bad, bytes: counts.bytes, sizeBytes: source.sizeBytes });
    },
  };
  try {
    await work(batch, source);
    bar.clear();
    say(screen, summary(counts, (io.clock() - startedMs) / 1000));
    return nothing({ exitCode: counts.bad > 0 ? EXIT.negative : EXIT.success });
  } catch (error) {
    bar.clear();
    // main tells of it, or keeps silent about a reader that has gone away.
    if (isOutputBroken) return nothing();
    // What was done before a fault of the input counts.
    await flush();
    throw error;
  } finally {
    await source.close();
    await rejects?.close();
  }
}

function summary(counts: { readonly good: number; readonly bad: number }, seconds: number): string {
  const lines = counts.good + counts.bad;
  const speed = seconds < 1 ? '' : ` in ${seconds.toFixed(1)} s (${grouped(rate(lines, seconds))}/s)`;
  return `${grouped(lines)} ${lines === 1 ? 'line' : 'lines'}: ${grouped(counts.good)} good, ${grouped(counts.bad)} bad${speed}`;
}

/** Only for its owner: it holds what people typed. */
async function openRejects(directory: string, file: string | undefined): Promise<FileHandle | undefined> {
  if (file === undefined) return undefined;
  try {
    return await open(resolve(directory, file), 'w', 0o600);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError(EXIT.usage, `${file} cannot be written (${code ?? String(cause)})`, undefined, {
      cause,
    });
  }
}
