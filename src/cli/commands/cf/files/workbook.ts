import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { HucreError } from 'hucre';
import { readXlsx, streamXlsxRows, writeXlsxStream } from 'hucre/xlsx';
import type { CellValue, Row } from '../../../../people/csv-rows.ts';
import { bilingualError, CancelledError } from '../../../errors/cli-error.ts';

/** Rows of a batch. */
const ROWS_PER_BATCH = 500;

/**
 * Reads the rows of a sheet: the first one that is not hidden, unless one is named.
 *
 * @throws CliError (usage) for a file that is no workbook, and for an unknown sheet
 */
export async function* xlsxRows(
  chunks: AsyncIterable<Uint8Array>,
  { sheet, signal }: { readonly sheet: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = [];
  let isEmpty = true;
  let rows = 0;
  try {
    const bytes = await allBytes(chunks);
    checkParts(bytes);
    const chosen = sheet ?? (await firstVisibleSheet(bytes));
    for await (const { index, values } of streamXlsxRows(bytes, { sheet: chosen })) {
      isEmpty = false;
      // Rows are parsed without a turn of the event loop, in which a signal would arrive.
      rows += 1;
      if (rows % ROWS_PER_BATCH === 0) await setImmediate();
      if (signal.aborted) throw new CancelledError('stopped');
      const cells = values.map(textOfValue);
      if (cells.every((cell) => cell === '')) continue;
      batch.push({ cells, line: index + 1, raw: cells.join('\t'), values });
      if (batch.length < ROWS_PER_BATCH) continue;
      yield batch;
      batch = [];
    }
  } catch (cause) {
    if (!(cause instanceof HucreError || cause instanceof RangeError)) throw cause;
    // The library's message may quote the sheet.
    throw bilingualError(
      ['the workbook cannot be read', NEXT],
      ['la cartella di lavoro non è leggibile', NEXT_IN_ITALIAN],
      { cause },
    );
  }
  if (isEmpty && sheet !== undefined)
    throw bilingualError(
      [
        `the workbook has no sheet ${JSON.stringify(sheet)}, or it is empty`,
        'leave --sheet out for the first one',
      ],
      [
        `la cartella di lavoro non ha un foglio ${JSON.stringify(sheet)}, o il foglio è vuoto`,
        'togliere --sheet per leggere il primo',
      ],
    );
  yield batch;
}

/** A workbook that is written while its rows arrive. */
type WorkbookOutput = {
  readonly row: (values: readonly CellValue[]) => void;
  /** Writes the rows so far, and waits until they are accepted. Rejects with the error of the file. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function createWorkbookOutput(file: string, mode: number): WorkbookOutput {
  const channel = new TransformStream<CellValue[][], CellValue[][]>();
  const writer = channel.writable.getWriter();
  const written = pipeline(
    Readable.fromWeb(writeXlsxStream(flatten(channel.readable), { name: 'Sheet1', freezePane: { rows: 1 } })),
    createWriteStream(file, { mode }),
  );
  // The error is reported where the result is awaited.
  written.catch(() => undefined);
  let rows: CellValue[][] = [];
  const flush = async (): Promise<void> => {
    if (rows.length === 0) return;
    const batch = rows;
    rows = [];
    // The channel would wait forever for a file that has failed.
    await Promise.race([writer.write(batch), written]);
  };
  return {
    row: (values) => rows.push([...values]),
    flush,
    close: async () => {
      await flush();
      await Promise.race([writer.close(), written]);
      await written;
    },
  };
}

async function* flatten<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}

/** The workbook is in memory as a whole. Real ones of a million people have 50 MB. */
const MAX_WORKBOOK_BYTES = 256 * 1024 ** 2;

/** Reads everything, because most programs write the texts of a workbook after its sheets. */
async function allBytes(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    all.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_WORKBOOK_BYTES)
      throw bilingualError(
        [
          `the workbook is not read: it has more than ${toMegabytes(MAX_WORKBOOK_BYTES)} MB`,
          'save it as CSV',
        ],
        [
          `la cartella di lavoro non viene letta: ha più di ${toMegabytes(MAX_WORKBOOK_BYTES)} MB`,
          'salvarla come CSV',
        ],
      );
  }
  return Buffer.concat(all);
}

/** The index of the first visible sheet; of the first one when all are hidden. */
async function firstVisibleSheet(bytes: Uint8Array): Promise<number> {
  let first: number | undefined;
  await readXlsx(bytes, {
    // Called for each sheet before any is read, so that none needs to be.
    sheets: ({ index, hidden, veryHidden }) => {
      if (hidden !== true && veryHidden !== true) first ??= index;
      return false;
    },
  });
  return first ?? 0;
}

const NEXT =
  'is it an .xlsx file without a password, and --sheet one of its sheets? Else save it as one, or as CSV';

const NEXT_IN_ITALIAN =
  'è un file .xlsx senza password, e --sheet uno dei suoi fogli? Altrimenti salvarlo così, o come CSV';

/** Formats a value as it is shown, except dates, which are written in ISO form. */
function textOfValue(value: CellValue | undefined): string {
  if (value === null || value === undefined) return '';
  return value instanceof Date ? value.toISOString().slice(0, 10) : String(value).trim();
}

/*
 * Refuses a workbook whose parts would inflate to more than a real one has, before anything is inflated. The directory of the
 * ZIP archive states the size of each part, and hucre inflates no part beyond its stated size.
 */

/** A sheet is read as a stream: this bounds the time. A million rows with ten cells take 400 MB. */
const MAX_SHEET_BYTES = 512 * 1024 ** 2;

/** Other parts, such as the shared texts, are in memory as a whole, as objects of thirty times their size. */
const MAX_OTHER_BYTES = 32 * 1024 ** 2;

/** Real sheets shrink to a tenth or a fortieth; deflate shrinks at most to a thousandth. */
const MAX_RATIO = 50;

/** Small parts may shrink more, and harm nobody. */
const MIN_SUSPICIOUS_BYTES = 10 * 1024 ** 2;

type Part = { readonly name: string; readonly packedBytes: number; readonly bytes: number };

/** @throws CliError (usage) for a part that is too large, RangeError for a damaged archive */
function checkParts(workbook: Uint8Array): void {
  for (const part of readParts(workbook)) {
    const { name, packedBytes, bytes } = part;
    const limit = name.startsWith('xl/worksheets/') ? MAX_SHEET_BYTES : MAX_OTHER_BYTES;
    if (bytes > limit) throw tooLarge(part, limit);
    if (bytes > MIN_SUSPICIOUS_BYTES && bytes > packedBytes * MAX_RATIO)
      throw tooLarge(part, packedBytes * MAX_RATIO);
    // hucre would inflate a part without a stated size up to 2 GiB.
    if (bytes === 0 && packedBytes > EMPTY_BYTES) throw new RangeError('a part has no size');
  }
}

/** The bytes of an empty part after deflate. */
const EMPTY_BYTES = 2;

function tooLarge({ name, bytes }: Part, limit: number): Error {
  const [part, size, most] = [JSON.stringify(name), toMegabytes(bytes), toMegabytes(limit)];
  return bilingualError(
    [
      `the workbook is not read: its part ${part} has ${size} MB, and at most ${most} MB are expected`,
      'remove empty rows and formats below the table, or save it as CSV',
    ],
    [
      `la cartella di lavoro non viene letta: la sua parte ${part} ha ${size} MB, e se ne aspettano al massimo ${most}`,
      'togliere righe vuote e formati sotto la tabella, o salvarla come CSV',
    ],
  );
}

function toMegabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}

const END_SIGNATURE = 0x06054b50;

const END_BYTES = 22;

const MAX_COMMENT_BYTES = 65_535;

const ENTRY_SIGNATURE = 0x02014b50;

const ENTRY_BYTES = 46;

const ZIP64_END_BYTES = 20;

const IN_ZIP64 = 0xffffffff;

const ZIP64_EXTRA = 1;

/** Reads the directory at the end of a ZIP archive (APPNOTE.TXT 4.3.12, 4.3.14 and 4.5.3). */
function* readParts(archive: Uint8Array): Generator<Part> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  let { at, count } = findDirectory(view);
  for (; count > 0; count -= 1) {
    if (view.getUint32(at, true) !== ENTRY_SIGNATURE) throw new RangeError('the directory is damaged');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) =>
      view.getUint16(at + offset, true),
    ) as [number, number, number];
    const nameAt = at + ENTRY_BYTES;
    const name = new TextDecoder().decode(archive.subarray(nameAt, nameAt + nameBytes));
    const stated = { packedBytes: view.getUint32(at + 20, true), bytes: view.getUint32(at + 24, true) };
    const extra = { at: nameAt + nameBytes, end: nameAt + nameBytes + extraBytes };
    yield { name, ...readLargeSizes(view, stated, extra) };
    at = extra.end + commentBytes;
  }
}

function findDirectory(view: DataView): { readonly at: number; readonly count: number } {
  const last = view.byteLength - END_BYTES;
  for (let end = last; end >= Math.max(0, last - MAX_COMMENT_BYTES); end -= 1) {
    if (view.getUint32(end, true) !== END_SIGNATURE) continue;
    const count = view.getUint16(end + 10, true);
    const at = view.getUint32(end + 16, true);
    if (count !== 0xffff && at !== IN_ZIP64 && view.getUint32(end + 12, true) !== IN_ZIP64)
      return { at, count };
    const record = Number(view.getBigUint64(end - ZIP64_END_BYTES + 8, true));
    return {
      count: Number(view.getBigUint64(record + 32, true)),
      at: Number(view.getBigUint64(record + 48, true)),
    };
  }
  throw new RangeError('the archive has no directory');
}

type Sizes = Omit<Part, 'name'>;

/** Sizes over 4 GiB are in an extra field; some programs write all sizes there. */
function readLargeSizes(view: DataView, sizes: Sizes, extra: { at: number; end: number }): Sizes {
  if (sizes.bytes !== IN_ZIP64 && sizes.packedBytes !== IN_ZIP64) return sizes;
  let { at } = extra;
  while (view.getUint16(at, true) !== ZIP64_EXTRA) {
    at += 4 + view.getUint16(at + 2, true);
    if (at >= extra.end) throw new RangeError('a part has no size');
  }
  at += 4;
  let { bytes, packedBytes } = sizes;
  if (bytes === IN_ZIP64) {
    bytes = Number(view.getBigUint64(at, true));
    at += 8;
  }
  if (packedBytes === IN_ZIP64) packedBytes = Number(view.getBigUint64(at, true));
  return { bytes, packedBytes };
}
