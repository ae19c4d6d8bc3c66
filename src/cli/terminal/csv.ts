import { csvLine } from '../../people/csv-rows.ts';
import type { ListResult, Value } from './result.ts';

/** RFC 4180, with the columns' names in the first line: `SESSION-ID` is `session_id`. */
export function renderCsv({ headings, rows }: ListResult, plain: (value: Value) => string): string {
  const header = headings.map((heading) => heading.toLowerCase().replaceAll('-', '_'));
  const cells = rows.map((row) => row.cells.map(({ value }) => harmless(value, plain(value))));
  return [header, ...cells].map((line) => csvLine(line, ',')).join('');
}

/**
 * A spreadsheet takes a text that begins so for a formula, and whoever joins a room chooses names. An apostrophe keeps it
 * a text.
 */
const FORMULA = /^[=+\-@\t\r\n]/;

function harmless(value: Value, text: string): string {
  return typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
}
