import Table from 'cli-table3';
import { strlen } from 'cli-table3/src/utils.js';

const GAP = 2;
/** A column is not cut below this while another one is wider. */
const NARROWEST = 8;

export type TableLayout = {
  /** Columns of the terminal; undefined: as wide as it gets. */
  readonly width: number | undefined;
  /** By column: whether it is cut only after all others. */
  readonly areWhole: readonly boolean[];
  /** Wide cells go on in the next line instead of being cut. */
  readonly isWrapped: boolean;
};

/** Aligned columns without lines, as gh and docker draw them; cut to `width` where one is given. */
export function renderTable(rows: readonly (readonly string[])[], layout: TableLayout): string {
  const widths = fitWidths(naturalWidths(rows), layout);
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

/** What is longer is no id: it is cut as the others. */
const LONGEST_WHOLE = 32;

/** Takes from the widest column until all fit, so that short columns stay whole, and ids if they can. */
function fitWidths(
  widths: readonly number[],
  { width: available, areWhole }: Pick<TableLayout, 'width' | 'areWhole'>,
): number[] {
  if (available === undefined) return [...widths];
  const least = widths.map((width, index) =>
    areWhole[index] === true && width <= LONGEST_WHOLE ? Math.max(width, NARROWEST) : NARROWEST,
  );
  const fitted = takeFromWidest(widths, available, least);
  if (totalOf(fitted) <= available) return fitted;
  return takeFromWidest(
    fitted,
    available,
    widths.map(() => NARROWEST),
  );
}

/** No column is cut below its least width. */
function takeFromWidest(widths: readonly number[], available: number, least: readonly number[]): number[] {
  const fitted = [...widths];
  while (totalOf(fitted) > available) {
    const candidates = fitted.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
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
