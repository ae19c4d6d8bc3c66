import { csvLine, withoutFormula } from '../../people/csv-rows.ts';
import { plainText } from './output.ts';
import type { ListResult, Value } from './result.ts';

/** Formats as RFC 4180, with the columns' names in the first line: `SESSION-ID` is `session_id`. */
export function renderCsv({ headings, rows }: Pick<ListResult, 'headings' | 'rows'>): string {
  const header = headings.map((heading) => heading.toLowerCase().replaceAll('-', '_'));
  const cells = rows.map((row) => row.cells.map(({ value }) => harmless(value)));
  return [header, ...cells].map((line) => csvLine(line, ',')).join('');
}

function harmless(value: Value): string {
  const text = plainText(value);
  return typeof value === 'string' ? withoutFormula(text) : text;
}
