import { createCsvReader, guessDelimiter } from '../../../../people/csv-rows.ts';
import type { Row } from '../../../../people/row.ts';
import { createTextReader } from './decode-text.ts';
import type { StreamSource } from './stream-source.ts';

/** Rows of CSV or of a spreadsheet, read in batches. */
export type Table = {
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Delimiter of the cells; for a spreadsheet, the delimiter of CSV that is made of it. */
  readonly delimiter: string;
  /** Describes how the input was understood so far, for people. */
  readonly describe: () => string;
};

export type TableOptions = {
  readonly delimiter: string | undefined;
  readonly sheet: string | undefined;
};

/** Length of the beginning in which the delimiter is searched. */
const BEGINNING_LENGTH = 64 * 1024;

/** @throws CliError (usage) for a workbook that cannot be read */
export async function openTable(source: StreamSource, options: TableOptions): Promise<Table> {
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
  const { xlsxRows } = await import('./xlsx-rows.ts');
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
    describe: () => `CSV, ${DELIMITER_NAMES[delimiter] ?? JSON.stringify(delimiter)}, ${reader.encoding()}`,
  };
}

const DELIMITER_NAMES: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
};

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
