/** A value of a cell in a spreadsheet. */
export type CellValue = string | number | boolean | Date | null;

/** A quote without an end within a megabyte; a quote without an end in the rest; a quote in the middle of a cell. */
export type RowProblem = 'no-end' | 'quote-not-closed' | 'quote-misplaced';

/** A row of a table. */
export type Row = {
  readonly cells: readonly string[];
  /** Line in which the row begins, from 1. A quoted cell may contain line ends. */
  readonly line: number;
  /** The row as it was written, for the file of rejected rows. */
  readonly raw: string;
  /** Why the row could not be read. It then has no cells. */
  readonly problem?: RowProblem;
  /** The cells with their types, from a spreadsheet. */
  readonly values?: readonly CellValue[];
};

/*
 * Reads CSV (RFC 4180) piece by piece. This is a parser of our own for speed: nearly all rows have no quote, and are split at the
 * delimiter. A general parser took four of the five seconds that a million rows may take.
 */

export type CsvReader = {
  /** Returns the rows that are complete now, in order, without empty lines. */
  readonly push: (text: string) => readonly Row[];
  /** Returns the rows at the end of the input, whose last line needs no line end. */
  readonly end: () => readonly Row[];
};

/** A longer row has a quote that is never closed. */
const MAX_ROW_LENGTH = 1024 * 1024;

export function createCsvReader(delimiter: string): CsvReader {
  let rest = '';
  let line = 1;
  let isEnded = false;
  // The rest of a row that was too long is dropped, up to its line end.
  let isDropping = false;

  const read = (): readonly Row[] => {
    const rows: Row[] = [];
    let at = 0;
    let quote = rest.indexOf('"');
    for (;;) {
      const lineEnd = rest.indexOf('\n', at);
      const end = lineEnd < 0 && isEnded ? rest.length : lineEnd;
      if (end < 0 || at >= rest.length) break;
      if (quote >= 0 && quote < at) quote = rest.indexOf('"', at);
      if (isDropping || quote < 0 || quote > end) {
        const raw = isDropping ? '' : withoutCarriageReturn(rest, at, end);
        isDropping = false;
        if (raw !== '') rows.push({ cells: raw.split(delimiter), line, raw });
        line += 1;
        at = end + 1;
        continue;
      }
      const scanned = scanRow({ text: rest, start: at, delimiter, isEnded });
      if (scanned === undefined) break;
      const raw = withoutCarriageReturn(rest, at, scanned.end);
      rows.push({ cells: scanned.cells, line, raw, ...toProblem(scanned) });
      line += countLines(rest, at, scanned.end);
      at = scanned.end + 1;
    }
    rest = rest.slice(at);
    if (rest.length > MAX_ROW_LENGTH) {
      if (!isDropping) rows.push({ cells: [], line, raw: rest.slice(0, MAX_ROW_LENGTH), problem: 'no-end' });
      line += countLines(rest, 0, rest.length) - 1;
      rest = '';
      isDropping = true;
    }
    return rows;
  };
  return {
    push: (text) => {
      rest += text;
      return read();
    },
    end: () => {
      isEnded = true;
      return read();
    },
  };
}

type Scan = {
  readonly text: string;
  readonly start: number;
  readonly delimiter: string;
  readonly isEnded: boolean;
};

type ScannedRow = {
  readonly cells: readonly string[];
  /** Position of the row's line end, or of the end of the input. */
  readonly end: number;
  readonly problem?: RowProblem;
};

/** Reads a row with quotes; undefined when its end has not been read yet. */
function scanRow(scan: Scan): ScannedRow | undefined {
  const { text, start, delimiter, isEnded } = scan;
  const cells: string[] = [];
  let at = start;
  for (;;) {
    if (text[at] === '"') {
      const closing = closingQuote(text, at + 1);
      if (closing < 0)
        return isEnded ? { cells: [], end: text.length, problem: 'quote-not-closed' } : undefined;
      // The next character decides whether a closing quote is the first of a pair.
      if (closing + 1 >= text.length && !isEnded) return undefined;
      cells.push(text.slice(at + 1, closing).replaceAll('""', '"'));
      at = text[closing + 1] === '\r' ? closing + 2 : closing + 1;
    } else {
      const end = endOfPlainCell(text, at, delimiter);
      if (end >= text.length && !isEnded) return undefined;
      if (text[end] === '"') return brokenRow(scan, end);
      const cell = text.slice(at, end);
      cells.push(text[end] === '\n' && cell.endsWith('\r') ? cell.slice(0, -1) : cell);
      at = end;
    }
    if (at >= text.length || text[at] === '\n') return { cells, end: at };
    if (text[at] !== delimiter) return brokenRow(scan, at);
    at += 1;
  }
}

/**
 * Returns the index of the quote that closes a cell, -1 when there is none yet. A pair of quotes means one quote character.
 */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function endOfPlainCell(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '"') at++;
  return at;
}

/** Returns an invalid row, which takes the rest of its line with it. */
function brokenRow({ text, isEnded }: Scan, at: number): ScannedRow | undefined {
  const end = text.indexOf('\n', at);
  if (end < 0 && !isEnded) return undefined;
  return { cells: [], end: end < 0 ? text.length : end, problem: 'quote-misplaced' };
}

function toProblem({ problem }: ScannedRow): { readonly problem?: RowProblem } {
  return problem === undefined ? {} : { problem };
}

function withoutCarriageReturn(text: string, start: number, end: number): string {
  return text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
}

function countLines(text: string, start: number, end: number): number {
  let count = 1;
  for (let at = text.indexOf('\n', start); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/**
 * Returns the delimiter that is most frequent in a line of the beginning, outside quotes. Excel in Italy writes semicolons.
 */
export function guessDelimiter(beginning: string): string {
  const lines = beginning.replace(/"(?:[^"]|"")*"/g, '').split('\n', LINES_LOOKED_AT);
  const counted = [',', ';', '\t', '|'].map((delimiter) => ({
    delimiter,
    count: Math.max(...lines.map((line) => line.split(delimiter).length - 1)),
  }));
  return counted.reduce((best, each) => (each.count > best.count ? each : best)).delimiter;
}

/** Lines of the beginning that are read, because a title may precede the names of the columns. */
const LINES_LOOKED_AT = 20;

/** Writes a row of CSV with its line end. */
export function csvLine(cells: readonly CellValue[], delimiter: string): string {
  return `${csvRow(cells, delimiter)}\n`;
}

/** Writes a row of CSV without a line end. A cell is quoted when necessary (RFC 4180). */
export function csvRow(cells: readonly CellValue[], delimiter: string): string {
  let line = '';
  for (let at = 0; at < cells.length; at++) {
    const cell = formatCell(cells[at] ?? null);
    const isQuoted =
      cell.includes(delimiter) || cell.includes('"') || cell.includes('\n') || cell.includes('\r');
    line += (at === 0 ? '' : delimiter) + (isQuoted ? `"${cell.replaceAll('"', '""')}"` : cell);
  }
  return line;
}

/**
 * A spreadsheet takes a text with such a beginning for a formula, and strangers choose names. An apostrophe keeps it a text.
 */
const FORMULA = /^[=+\-@\t\r\n]/;

/** Returns the text as one that no spreadsheet takes for a formula. */
export function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function formatCell(value: CellValue): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return value instanceof Date ? value.toISOString().slice(0, 10) : String(value);
}

/**
 * Decodes a whole table: UTF-16 if there is its byte order mark, as from Excel's "Unicode text"; else UTF-8; or Windows-1252,
 * which spreadsheets in Italy still write, when the bytes are not UTF-8. A byte order mark is left out.
 */
export function decodeTable(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
