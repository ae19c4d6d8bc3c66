import Table from 'cli-table3';
import { strlen } from 'cli-table3/src/utils.js';

const GAP = 2;
/** A column is not cut below this while another one is wider. */
const NARROWEST = 8;

export type TableLayout = {
  /** Columns of the terminal; undefined: as wide as it gets. */
  readonly width: number | undefined;
  /** Wide cells go on in the next line instead of being cut. */
  readonly isWrapped: boolean;
};

/** Aligned columns without lines, as gh and docker draw them; cut to `width` where one is given. */
export function renderTable(rows: readonly (readonly string[])[], layout: TableLayout): string {
  const widths = fitWidths(naturalWidths(rows), layout.width);
  const table = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    colWidths: widths.map((columns) => columns + GAP),
    truncate: '…',
    wordWrap: layout.isWrapped,
  });
  for (const row of rows) table.push([...row]);
  return `${table.toString().replace(/[ ]+$/gm, '')}\n`;
}

function naturalWidths(rows: readonly (readonly string[])[]): number[] {
  const columns = rows[0]?.length ?? 0;
  return Array.from({ length: columns }, (_, index) =>
    Math.max(1, ...rows.map((row) => strlen(row[index] ?? ''))),
  );
}

/** The first column names the row: what a person copies from it must be whole, as ids are. */
const FIRST_COLUMN = 32;

/** Takes from the widest column until all fit, so that short columns stay whole, and what names a row if it can. */
function fitWidths(widths: readonly number[], available: number | undefined): number[] {
  if (available === undefined) return [...widths];
  const [first = 0] = widths;
  const fitted = takeFromWidest(widths, available, first <= FIRST_COLUMN ? first : NARROWEST);
  return totalOf(fitted) > available ? takeFromWidest(fitted, available, NARROWEST) : fitted;
}

/** The first column is not cut below `first`, the others not below NARROWEST. */
function takeFromWidest(widths: readonly number[], available: number, first: number): number[] {
  const fitted = [...widths];
  while (totalOf(fitted) > available) {
    const spare = fitted.map((width, index) => width - (index === 0 ? first : NARROWEST));
    const candidates = fitted.map((width, index) => ((spare[index] ?? 0) > 0 ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if ((candidates[widest] ?? 0) === 0) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
  return fitted;
}

function totalOf(widths: readonly number[]): number {
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
