import Table from 'cli-table3';
import stringWidth from 'string-width';

const GAP = 2;

/** A column is not cut below this while another one is wider. */
const NARROWEST = 8;

export type TableLayout = {
  /** Columns of the terminal; undefined for no limit. */
  readonly width: number | undefined;
  /** For each column: whether it is cut only after all others. */
  readonly areWhole: readonly boolean[];
  /** Wide cells continue in the next line instead of being cut. */
  readonly isWrapped: boolean;
};

/** Renders aligned columns without lines, like gh and docker; cut to `width` if it is given. */
export function renderTable(given: readonly (readonly string[])[], layout: TableLayout): string {
  const widths = fitWidths(naturalWidths(given), layout);
  const rows = layout.isWrapped ? given.flatMap((row) => wrapRow(row, widths)) : given;
  const isCut = layout.width !== undefined;
  // The last column needs no padding unless it is cut: no other column follows it.
  const drawn = isCut || layout.isWrapped ? widths.length : widths.length - 1;
  const lines = rows.map((row) => (drawn === 0 ? '' : drawRow(row, widths.slice(0, drawn))));
  const ends = rows.map((row) => row.slice(drawn).join(''));
  return lines.map((line, index) => `${withoutTrailingSpaces(line + (ends[index] ?? ''))}\n`).join('');
}

/** Draws each row as a table of its own, because the time of cli-table3 grows with the square of their number. */
function drawRow(row: readonly string[], widths: readonly number[]): string {
  const table = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    colWidths: widths.map((columns) => columns + GAP),
    truncate: '…',
  });
  table.push(widths.map((columns, index) => shorten(cutAddress(row[index] ?? '', columns), columns)));
  return table.toString();
}

/** Returns whether names and ids stay whole when the other columns are cut. */
export function keepsWhole(rows: readonly (readonly string[])[], layout: TableLayout): boolean {
  const { width } = layout;
  if (width === undefined) return true;
  const widths = naturalWidths(rows);
  return sumWidths(takeFromWidest(widths, width, leastWidths(widths, layout))) <= width;
}

/** Splits a row into as many one-line rows as its longest cell needs. */
function wrapRow(row: readonly string[], widths: readonly number[]): readonly (readonly string[])[] {
  const cells = row.map((cell, index) => wrapCell(cell, widths[index] ?? 1));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => cells.map((lines) => lines[line] ?? ''));
}

/** Cuts an address in its middle, because the end tells two of one host apart. Others are returned unchanged. */
export function cutAddress(cell: string, columns: number): string {
  const [, before = '', text = '', after = ''] = PAINTED.exec(cell) ?? [];
  if (!/^https?:\/\/[!-~]*$/.test(text) || text.length <= columns) return cell;
  const end = Math.ceil((columns - 1) / 2);
  return `${before}${text.slice(0, columns - 1 - end)}…${text.slice(text.length - end)}${after}`;
}

/** Maximum code units in one column of the terminal: combining marks can pile up on one letter. */
const MOST_CHARACTERS = 16;

/**
 * Shortens a text to somewhat more than is shown, because cutting it to the column takes time with the square of its length.
 */
function shorten(text: string, columns: number): string {
  const most = Math.max(1, columns) * MOST_CHARACTERS;
  let end = columns + 2;
  while (end < Math.min(most, text.length) && stringWidth(text.slice(0, end)) <= columns + 1) end *= 2;
  if (end >= text.length) return text;
  return end < most ? text.slice(0, end) : `${text.slice(0, most)}…`;
}

/** Written without a regular expression, which would start again at each of the spaces in a text. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end -= 1;
  return line.slice(0, end);
}

function naturalWidths(rows: readonly (readonly string[])[]): number[] {
  const columns = rows[0]?.length ?? 0;
  return Array.from({ length: columns }, (_, index) =>
    rows.reduce((widest, row) => Math.max(widest, stringWidth(row[index] ?? '')), 1),
  );
}

/** Ids are at most this long. Longer values are cut like any other. */
const LONGEST_WHOLE = 32;

/** Takes columns from the widest until all fit, so that short columns stay whole, and ids if possible. */
function fitWidths(
  widths: readonly number[],
  { width: available, areWhole }: Pick<TableLayout, 'width' | 'areWhole'>,
): number[] {
  if (available === undefined) return [...widths];
  const narrowed = takeFromWidest(widths, available, leastWidths(widths, { areWhole }));
  if (sumWidths(narrowed) <= available) return narrowed;
  return takeFromWidest(
    narrowed,
    available,
    widths.map(() => NARROWEST),
  );
}

function leastWidths(
  widths: readonly number[],
  { areWhole }: Pick<TableLayout, 'areWhole'>,
): readonly number[] {
  return widths.map((width, index) =>
    areWhole[index] === true && width <= LONGEST_WHOLE ? Math.max(width, NARROWEST) : NARROWEST,
  );
}

/** No column is cut below its least width. */
function takeFromWidest(widths: readonly number[], available: number, least: readonly number[]): number[] {
  const narrowed = [...widths];
  while (sumWidths(narrowed) > available) {
    const candidates = narrowed.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if ((candidates[widest] ?? 0) === 0) break;
    narrowed[widest] = (narrowed[widest] ?? 0) - 1;
  }
  return narrowed;
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP, -GAP);
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};

/** A text as a palette paints it: SGR sequences before and after it, and none within. */
const PAINTED = /^((?:\u001b\[[\d;]*m)*)([^\u001b]*)((?:\u001b\[[\d;]*m)*)$/;

/**
 * Returns the lines of a cell, each at most so many columns wide and coloured like the whole: broken between words, and
 * within words that are longer than a line. Written by hand, because cli-table3 cuts such words off, and takes time with the
 * square of the length.
 */
function wrapCell(cell: string, columns: number): readonly string[] {
  if (stringWidth(cell) <= columns) return [cell];
  const [, before = '', text = cell, after = ''] = PAINTED.exec(cell) ?? [];
  return splitLines(text, columns).map((line) => before + line + after);
}

function splitLines(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let width = 0;
  for (const [, gap = '', word = ''] of text.matchAll(/( *)([^ ]+)/g)) {
    for (const [index, piece] of splitPieces(word, columns).entries()) {
      const space = index === 0 && line !== '' ? gap : '';
      const isTooLong = width + space.length + piece.width > columns;
      if (isTooLong && line !== '') lines.push(line);
      line = isTooLong ? piece.text : line + space + piece.text;
      width = isTooLong ? piece.width : width + space.length + piece.width;
    }
  }
  return [...lines, line];
}

type Piece = { readonly text: string; readonly width: number };

/** Splits a word into parts that fit a line. */
function splitPieces(word: string, columns: number): readonly Piece[] {
  const width = stringWidth(word);
  if (width <= columns) return [{ text: word, width }];
  const pieces: { text: string; width: number }[] = [];
  let last = { text: '', width: 0 };
  for (const { segment } of new Intl.Segmenter('en').segment(word)) {
    const more = stringWidth(segment);
    if (last.text === '' || last.width + more > columns) {
      last = { text: '', width: 0 };
      pieces.push(last);
    }
    last.text += segment;
    last.width += more;
  }
  return pieces;
}
