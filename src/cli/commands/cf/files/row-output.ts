import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { csvLine } from '../../../../people/csv-rows.ts';
import type { CellValue } from '../../../../people/row.ts';
import { bilingualError } from '../../../errors/bilingual-error.ts';
import { fileError } from '../../../errors/file-error.ts';
import type { Io } from '../../../terminal/io.ts';
import { type ByteOutput, createByteOutput } from './byte-output.ts';

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
    ? (await import('./workbook-output.ts')).createWorkbookOutput(part, FILE_MODE)
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
