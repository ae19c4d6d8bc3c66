import { isAscii, isUtf8 } from 'node:buffer';
import type { Language } from '../../../../fiscal/index.ts';
import { createCsvReader, guessDelimiter, type Row } from '../../../../people/csv-rows.ts';
import type { Context } from '../../../framework/context.ts';
import { printStatus } from '../../../terminal/terminal.ts';
import { TEXTS } from '../texts.ts';
import type { Batch } from './batch.ts';
import type { StreamSource } from './stream-source.ts';

/** The rows at the beginning of a table, and what is known of it before its data. */
export type TableHead = Omit<HeadedRows, 'batches'> & {
  readonly delimiter: string;
  readonly describe: () => string;
};

export type TableWork = TableOptions & {
  readonly isHeader: (cells: readonly string[]) => boolean;
  /** Called once, before the first row. Returns a function that is called for each row. */
  readonly begin: (head: TableHead) => Promise<(row: Row) => void>;
};

/** Rows between two writes. */
const ROWS_PER_PAUSE = 2000;

/** Visits the rows of a table in order, including broken ones, which have a problem in place of cells. */
export async function eachTableRow(
  context: Context,
  batch: Batch,
  { source, ...work }: TableWork & { readonly source: StreamSource },
): Promise<void> {
  const table = await openTable(source, work);
  const { batches, ...head } = await splitHeader(table.batches, work.isHeader);
  const described = table.describe();
  const visit = await work.begin({ ...head, delimiter: table.delimiter, describe: table.describe });
  let count = 0;
  for await (const rows of batches) {
    for (const row of rows) {
      visit(row);
      count += 1;
      if (count % ROWS_PER_PAUSE === 0) await batch.pause();
    }
  }
  await batch.pause();
  // The encoding is known at the first letter with an accent, which may have come after the description above.
  if (table.describe() !== described)
    printStatus(context.terminal, TEXTS[work.language].readAs(table.describe()));
}

/** The row that names the columns, and the rows before and after it. */
type HeadedRows = {
  /** Rows before the header, such as titles. */
  readonly above: readonly Row[];
  /** Undefined when no row names the columns. */
  readonly header: Row | undefined;
  /** The first rows of a table without a header; they are data too. */
  readonly headless: readonly Row[];
  /** The data. */
  readonly batches: AsyncIterable<readonly Row[]>;
};

/** Rows that are searched for a header, because a title, a date and an empty line may precede it. */
const ROWS_LOOKED_AT = 20;

/** Finds the first row near the beginning that is a header. Without one all rows are data. */
async function splitHeader(
  batches: AsyncIterable<readonly Row[]>,
  isHeader: (cells: readonly string[]) => boolean,
): Promise<HeadedRows> {
  const rest = batches[Symbol.asyncIterator]();
  const beginning: Row[] = [];
  while (beginning.length < ROWS_LOOKED_AT) {
    const next = await rest.next();
    if (next.done === true) break;
    for (const row of next.value) beginning.push(row);
  }
  const at = beginning.slice(0, ROWS_LOOKED_AT).findIndex(({ cells }) => isHeader(cells));
  const header = at < 0 ? undefined : beginning[at];
  const data = async function* (): AsyncGenerator<readonly Row[]> {
    yield beginning.slice(at + 1);
    yield* { [Symbol.asyncIterator]: () => rest };
  };
  return {
    above: header === undefined ? [] : beginning.slice(0, at),
    header,
    headless: header === undefined ? beginning.slice(0, ROWS_LOOKED_AT) : [],
    batches: data(),
  };
}

/** Rows of CSV or of a spreadsheet, read in batches. */
export type Table = {
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Delimiter of the cells; for a spreadsheet, the delimiter of CSV that is made of it. */
  readonly delimiter: string;
  /** Describes how the input was understood so far, for people. */
  readonly describe: () => string;
};

export type TableOptions = {
  readonly language: Language;
  readonly delimiter: string | undefined;
  readonly sheet: string | undefined;
};

/** Length of the beginning in which the delimiter is searched. */
const BEGINNING_LENGTH = 64 * 1024;

/** @throws CliError (usage) for a workbook that cannot be read */
async function openTable(source: StreamSource, options: TableOptions): Promise<Table> {
  const chunks = source.chunks[Symbol.asyncIterator]();
  const first = await chunks.next();
  const all = startingWith(first, chunks);
  const isWorkbook = first.done !== true && isZip(first.value);
  return isWorkbook ? openWorkbook(all, { ...options, signal: source.signal }) : openCsv(all, options);
}

async function openWorkbook(
  chunks: AsyncIterable<Uint8Array>,
  options: TableOptions & { readonly signal: AbortSignal },
): Promise<Table> {
  const { xlsxRows } = await import('./workbook.ts');
  return {
    batches: xlsxRows(chunks, options),
    delimiter: options.delimiter ?? ',',
    describe: () => 'XLSX',
  };
}

async function openCsv(chunks: AsyncIterable<Uint8Array>, options: TableOptions): Promise<Table> {
  const reader = createTextReader();
  const texts = textsOf(chunks, reader);
  let beginning = '';
  let isEnded = false;
  while (!isEnded && beginning.length < BEGINNING_LENGTH) {
    const next = await texts.next();
    isEnded = next.done === true;
    if (next.done !== true) beginning += next.value;
  }
  beginning = beginning.replace(/^\ufeff/, '');
  const delimiter = options.delimiter ?? guessDelimiter(beginning);
  const csv = createCsvReader(delimiter);
  const batches = async function* (): AsyncGenerator<readonly Row[]> {
    yield csv.push(beginning);
    for await (const text of texts) yield csv.push(text);
    yield csv.end();
  };
  return {
    batches: batches(),
    delimiter,
    describe: () =>
      `CSV, ${TEXTS[options.language].delimiters[delimiter] ?? JSON.stringify(delimiter)}, ${reader.encoding()}`,
  };
}

async function* textsOf(
  chunks: AsyncIterable<Uint8Array>,
  reader: ReturnType<typeof createTextReader>,
): AsyncGenerator<string> {
  for await (const chunk of chunks) yield reader.decode(chunk);
  yield reader.end();
}

/** The signature of a ZIP archive, which a workbook is. */
function isZip([first, second, third, fourth]: Uint8Array): boolean {
  return first === 0x50 && second === 0x4b && third === 3 && fourth === 4;
}

async function* startingWith(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (first.done === true) return;
  yield first.value;
  yield* { [Symbol.asyncIterator]: () => rest };
}

export type Encoding = 'UTF-8' | 'Windows-1252' | 'UTF-16LE' | 'UTF-16BE';

export type TextReader = {
  readonly decode: (chunk: Uint8Array) => string;
  readonly end: () => string;
  /** The encoding that was detected so far. */
  readonly encoding: () => Encoding;
};

/**
 * Decodes bytes of unknown encoding: UTF-16 if there is a byte order mark; else UTF-8; or Windows-1252, which spreadsheets
 * in Italy still write, when the first bytes beyond ASCII are not UTF-8. A byte order mark at the beginning is left out.
 */
function createTextReader(): TextReader {
  let encoding: Encoding = 'UTF-8';
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let isFirst = true;
  let held = new Uint8Array(0);
  return {
    decode: (chunk) => {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      held = new Uint8Array(0);
      if (decoder === undefined) {
        if (isFirst && bytes.length < MARK_BYTES) {
          held = bytes.slice();
          return '';
        }
        const marked = isFirst ? encodingOfMark(bytes) : undefined;
        isFirst = false;
        if (marked === undefined && isAscii(bytes)) return asciiText(bytes);
        const complete = completeLength(bytes);
        // The chunk has only the beginning of a character, so the next one decides.
        if (marked === undefined && isAscii(bytes.subarray(0, complete))) {
          held = bytes.slice(complete);
          return asciiText(bytes.subarray(0, complete));
        }
        encoding = marked ?? (isUtf8(bytes.subarray(0, complete)) ? 'UTF-8' : 'Windows-1252');
        decoder = new TextDecoder(encoding);
      }
      return decoder.decode(bytes, { stream: true });
    },
    end: () => {
      if (decoder !== undefined) return decoder.decode();
      if (held.length === 0) return '';
      if (!isUtf8(held)) encoding = 'Windows-1252';
      return new TextDecoder(encoding).decode(held);
    },
    encoding: () => encoding,
  };
}

function asciiText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Length of a byte order mark of UTF-16. */
const MARK_BYTES = 2;

function encodingOfMark([first, second]: Uint8Array): Encoding | undefined {
  if (first === 0xff && second === 0xfe) return 'UTF-16LE';
  return first === 0xfe && second === 0xff ? 'UTF-16BE' : undefined;
}

/** The length without a character of UTF-8 that is cut at the end. */
function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
