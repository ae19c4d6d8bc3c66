import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { usageError } from '../../errors/cli-error.ts';

export type CsvRow = {
  readonly cells: readonly string[];
  /** Where the row begins; a quoted cell may hold line ends. */
  readonly line: number;
  readonly input: () => string;
};

export type RowVisitor = {
  /** The first row, where it names the columns. */
  readonly header?: (cells: readonly string[], delimiter: string) => void;
  readonly visit: (row: CsvRow) => void;
  /** A row that is no CSV, such as a quote in the midst of a cell. */
  readonly visitBroken: (line: number, message: string, input: string) => void;
  readonly afterRows: (byteCount: number) => Promise<void>;
};

/** More than this without an end is a quote that nobody closed. */
const MAX_ROW_BYTES = 1024 * 1024;
/** Rows between two writes. */
const ROWS_PER_PAUSE = 2000;

/** Rows of CSV (RFC 4180), in order; empty lines are left out. */
export async function eachRow(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string | undefined,
  visitor: RowVisitor,
): Promise<void> {
  const input = await peekFirstLine(chunks);
  const counter = { bytes: 0 };
  // The parser tells of broken rows while it is ahead of the others: they wait for their turn.
  const broken: BrokenRow[] = [];
  const visitBroken = (before: number): void => {
    while ((broken[0]?.line ?? before) < before) {
      const row = broken.shift();
      if (row !== undefined) visitor.visitBroken(row.line, row.message, row.input);
    }
  };
  const pause = async (): Promise<void> => {
    const { bytes } = counter;
    counter.bytes = 0;
    await visitor.afterRows(bytes);
  };
  const separator = delimiter ?? guessDelimiter(input.firstLine);
  const rows = parseRows(countBytes(input.chunks, counter), separator, broken);
  let count = 0;
  for await (const { record, raw, info } of rows) {
    count += 1;
    if (count === 1 && visitor.header !== undefined) {
      visitor.header(record, separator);
      continue;
    }
    const line = firstLine(info.lines, raw);
    visitBroken(line);
    visitor.visit({ cells: record, line, input: () => withoutEnd(raw) });
    if (count % ROWS_PER_PAUSE === 0) await pause();
  }
  visitBroken(Number.POSITIVE_INFINITY);
  await pause();
}

function parseRows(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string,
  broken: BrokenRow[],
): AsyncIterable<ParsedRow> {
  let lastLine = 0;
  const parser = parse({
    delimiter,
    bom: true,
    info: true,
    raw: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: MAX_ROW_BYTES,
    on_skip: (error, raw = '') => {
      const { lines = 0 } = (error ?? {}) as { readonly lines?: number };
      const line = firstLine(lines, raw);
      // Of a row without an end, each further megabyte is told as another one.
      if (line !== lastLine) broken.push({ line, message: brokenRow(error), input: withoutEnd(raw) });
      lastLine = line;
      return undefined;
    },
  });
  const source = Readable.from(chunks, { objectMode: false });
  source.on('error', (error) => parser.destroy(error));
  return source.pipe(parser) as AsyncIterable<ParsedRow>;
}

async function* countBytes(
  chunks: AsyncIterable<Uint8Array>,
  counter: { bytes: number },
): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) {
    counter.bytes += chunk.length;
    yield chunk;
  }
}

type BrokenRow = { readonly line: number; readonly message: string; readonly input: string };

type ParsedRow = {
  readonly record: string[];
  readonly raw: string;
  readonly info: { readonly lines: number };
};

/** The parser counts to the last line of a row. */
function firstLine(lastLine: number, raw: string): number {
  return lastLine - (withoutEnd(raw).split('\n').length - 1);
}

function withoutEnd(raw: string): string {
  return raw.replace(/\r?\n$/, '');
}

type Peeked = { readonly firstLine: string; readonly chunks: AsyncIterable<Uint8Array> };

async function peekFirstLine(chunks: AsyncIterable<Uint8Array>): Promise<Peeked> {
  const rest = chunks[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let size = 0;
  let isEnded = false;
  while (!isEnded && size < MAX_ROW_BYTES && held.at(-1)?.includes(10) !== true) {
    const next = await rest.next();
    isEnded = next.done === true;
    if (next.done !== true) {
      held.push(next.value);
      size += next.value.length;
    }
  }
  const firstLine = Buffer.concat(held).toString('utf8').split(/\r?\n/, 1)[0] ?? '';
  const all = async function* (): AsyncIterable<Uint8Array> {
    yield* held;
    if (!isEnded) yield* { [Symbol.asyncIterator]: () => rest };
  };
  return { firstLine, chunks: all() };
}

/** What stands most often in the first line, outside quotes; Excel in Italy writes semicolons. */
function guessDelimiter(firstLine: string): string {
  const bare = firstLine.replace(/"(?:[^"]|"")*"/g, '');
  const counted = [',', ';', '\t', '|'].map((delimiter) => ({
    delimiter,
    count: bare.split(delimiter).length - 1,
  }));
  return counted.reduce((best, each) => (each.count > best.count ? each : best)).delimiter;
}

function brokenRow(error: { readonly code?: string } | undefined): string {
  switch (error?.code) {
    case 'CSV_MAX_RECORD_SIZE':
      return `more than ${MAX_ROW_BYTES} bytes without an end: is a quote never closed?`;
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quote is opened and never closed';
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
      return 'a quote stands in the midst of a cell';
    default:
      return 'the row is no CSV';
  }
}

/** Which cell of a row is meant by a column's name, or by its number from 1. */
export function columnIndex(column: string, header: readonly string[] | undefined): number {
  if (header === undefined) return Number(column) - 1;
  const wanted = folded(column);
  const at = header.findIndex((name) => folded(name) === wanted);
  if (at !== -1) return at;
  // The first row may be a person's: it is not shown.
  throw usageError(
    `no column of the first row has the name ${JSON.stringify(column)}`,
    'without a row of names, give the number of the column: --column 1',
  );
}

/** Case, spaces, accents and punctuation do not count in the name of a column. */
export function folded(name: string): string {
  return name
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** A row of CSV; a cell is quoted where it has to be (RFC 4180). */
export function csvLine(cells: readonly string[], delimiter: string): string {
  const quoted = cells.map((cell) =>
    cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  );
  return `${quoted.join(delimiter)}\n`;
}
