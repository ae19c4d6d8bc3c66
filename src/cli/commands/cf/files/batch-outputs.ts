import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Language } from '../../../../fiscal/index.ts';
import { fileError } from '../../../errors/file-error.ts';
import { escapeCell } from '../../../terminal/escape-for-terminal.ts';
import type { Io } from '../../../terminal/io.ts';
import { TEXTS } from '../texts.ts';
import { type ByteOutput, createByteOutput } from './byte-output.ts';

export type BadLine = {
  readonly line: number;
  readonly reason: string;
  /** For people; contains nothing of the line. */
  readonly message: string;
  /** Labels that the report at the end counts, one for each error. */
  readonly labels: readonly string[];
  /** The line itself, for the file of rejects. */
  readonly input: () => string;
};

/** Outputs of a run over many lines: results to stdout, bad lines to stderr or into a file. */
export type BatchOutputs = {
  readonly out: ByteOutput;
  readonly reportBad: (bad: BadLine) => void;
  /** Writes the gathered text, and waits for it. Rejects with the error of an output. */
  readonly flush: () => Promise<void>;
  readonly isStdoutBroken: () => boolean;
  readonly close: () => Promise<void>;
};

type OutputOptions = { readonly rejects: string | undefined; readonly language: Language };

/** Maximum bad lines that are named. More do not help a reader, and a wrong file would fill a log with millions. */
const MAX_NAMED = 1000;

/**
 * @param beforeStderr called before a write to stderr, where a progress bar may be
 * @throws CliError (usage) when the file of rejects cannot be written
 */
export async function openOutputs(
  io: Io,
  { rejects: rejectsFile, language }: OutputOptions,
  beforeStderr: () => void,
): Promise<BatchOutputs> {
  const rejects = await openRejects(io.workingDirectory, rejectsFile);
  const out = createByteOutput(io.stdout);
  const badLines = createByteOutput(io.stderr);
  const texts = TEXTS[language];
  const rejected: string[] = [];
  let namedCount = 0;
  let isStdoutBroken = false;
  const noteBroken = (): void => {
    isStdoutBroken = true;
  };
  io.stdout.once('error', noteBroken);
  return {
    out,
    reportBad: ({ line, reason, message, input }) => {
      if (rejects === undefined) {
        namedCount += 1;
        if (namedCount <= MAX_NAMED) badLines.text(`${texts.badLine(line, reason, message)}\n`);
        else if (namedCount === MAX_NAMED + 1) badLines.text(`${texts.furtherBad}\n`);
      } else rejected.push(`${line}\t${reason}\t${message}\t${escapeCell(input())}\n`);
    },
    flush: async () => {
      await out.flush().catch((error: unknown) => {
        noteBroken();
        throw error;
      });
      if (rejects !== undefined && rejected.length > 0) await rejects.appendFile(rejected.splice(0).join(''));
      if (badLines.isEmpty()) return;
      beforeStderr();
      // Stderr may have no reader, but the results still count.
      await badLines.flush().catch(() => undefined);
    },
    isStdoutBroken: () => isStdoutBroken,
    close: async () => {
      io.stdout.off('error', noteBroken);
      await rejects?.close();
    },
  };
}

/** Readable only by its owner, because it contains what people typed. */
async function openRejects(directory: string, file: string | undefined): Promise<FileHandle | undefined> {
  if (file === undefined) return undefined;
  try {
    return await open(resolve(directory, file), 'w', 0o600);
  } catch (cause) {
    throw fileError(cause, { path: file, doing: 'written' });
  }
}
