import { createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { Language } from '../../../../fiscal/index.ts';
import { type CellValue, csvLine } from '../../../../people/csv-rows.ts';
import { bilingualError } from '../../../errors/cli-error.ts';
import { fileError } from '../../../errors/file-error.ts';
import type { Io } from '../../../terminal/io.ts';
import { escapeCell } from '../../../terminal/terminal.ts';
import { TEXTS } from '../texts.ts';

/** Output of the rows of a table: CSV to stdout or into a file, or a workbook. */
export type RowOutput = {
  readonly row: (values: readonly CellValue[]) => void;
  /** Writes the gathered rows, and waits for it. Rejects with the error of the output. */
  readonly flush: () => Promise<void>;
  /** Completes the file, which gets its name only then. */
  readonly finish: () => Promise<void>;
  /** Removes the incomplete file. */
  readonly discard: () => Promise<void>;
};

type RowOutputOptions = {
  /** Undefined for stdout. */
  readonly out: string | undefined;
  /** The input, which the output must not replace before it is read. */
  readonly file: string | undefined;
  readonly delimiter: string;
};

/** Readable only by its owner, because it contains what people typed. */
const FILE_MODE = 0o600;
/** Byte order mark of UTF-8, with which Excel recognises the encoding of a CSV file. */
const MARK = '\ufeff';

/** @throws CliError (usage) when the output is the input */
export async function openRowOutput(
  io: Io,
  stdout: ByteOutput,
  { out, file, delimiter }: RowOutputOptions,
): Promise<RowOutput> {
  if (out === undefined) return toStdout(stdout, delimiter);
  const path = resolve(io.workingDirectory, out);
  if (file !== undefined && path === resolve(io.workingDirectory, file))
    throw bilingualError(
      ['--out would replace the input', 'name another file'],
      ["--out sostituirebbe l'input", 'indicare un altro file'],
    );
  const part = `${path}.part`;
  const inner = /\.xlsx$/i.test(out)
    ? (await import('./workbook.ts')).createWorkbookOutput(part, FILE_MODE)
    : toCsvFile(part, delimiter);
  const withFileError = async (work: Promise<void>): Promise<void> => {
    await work.catch((cause: unknown) => {
      throw fileError(cause, { path: out, doing: 'written' });
    });
  };
  return {
    row: inner.row,
    flush: () => withFileError(inner.flush()),
    finish: () => withFileError(inner.close().then(() => rename(part, path))),
    discard: async () => {
      await inner.close().catch(() => undefined);
      await rm(part, { force: true });
    },
  };
}

function toStdout(stdout: ByteOutput, delimiter: string): RowOutput {
  return {
    row: (values) => stdout.text(csvLine(values, delimiter)),
    // The caller writes stdout itself.
    flush: async () => undefined,
    finish: async () => undefined,
    discard: async () => undefined,
  };
}

type FileOutput = Pick<RowOutput, 'row' | 'flush'> & { readonly close: () => Promise<void> };

function toCsvFile(file: string, delimiter: string): FileOutput {
  const stream = createWriteStream(file, { mode: FILE_MODE });
  // An error of the stream is reported where a write is awaited.
  stream.on('error', () => undefined);
  const output = createByteOutput(stream);
  output.text(MARK);
  return {
    row: (values) => output.text(csvLine(values, delimiter)),
    flush: output.flush,
    close: async () => {
      await output.flush();
      await new Promise<void>((done, fail) =>
        stream.end((error?: Error | null) => (error ? fail(error) : done())),
      );
    },
  };
}

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

/** Gathers small writes into large ones, because a write for each of a million lines would take most of the time. */
export type ByteOutput = {
  readonly isEmpty: () => boolean;
  readonly bytes: (source: Uint8Array, start: number, end: number) => void;
  readonly text: (text: string) => void;
  /** Writes the gathered bytes, and waits until the stream has accepted them. Rejects with the stream's error. */
  readonly flush: () => Promise<void>;
};

const INITIAL_BYTES = 256 * 1024;
/** UTF-8 needs at most three bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
/** A call of the native copy takes as long as copying this many bytes by hand. */
const SHORT = 48;

function createByteOutput(stream: Writable): ByteOutput {
  let buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  let length = 0;
  const reserve = (count: number): void => {
    if (length + count <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + count));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  };
  return {
    isEmpty: () => length === 0,
    bytes: (source, start, end) => {
      const count = end - start;
      reserve(count);
      if (count <= SHORT)
        for (let at = 0; at < count; at++) buffer[length + at] = source[start + at] as number;
      else buffer.set(source.subarray(start, end), length);
      length += count;
    },
    text: (text) => {
      reserve(text.length * MAX_BYTES_PER_UNIT);
      length += buffer.write(text, length, 'utf8');
    },
    flush: async () => {
      if (length === 0) return;
      const gathered = buffer.subarray(0, length);
      length = 0;
      // The buffer may be reused only after the stream has finished with it.
      await new Promise<void>((resolve, reject) =>
        stream.write(gathered, (error) => (error ? reject(error) : resolve())),
      );
    },
  };
}
