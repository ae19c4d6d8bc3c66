import { strlen } from 'cli-table3/src/utils.js';
import { escapeForTerminal } from '../../terminal/escape-for-terminal.ts';
import type { Environment } from '../../terminal/io.ts';

/** Characters of plots and marks; plain ones when the terminal's locale has no others. */
export type Glyphs = {
  readonly levels: readonly string[];
  readonly more: string;
  readonly on: string;
};

const UNICODE: Glyphs = { levels: [...'▁▂▃▄▅▆▇█'], more: '…', on: '●' };
const ASCII: Glyphs = { levels: [...'_.-=+*%#'], more: '~', on: '*' };

export function chooseGlyphs({ LC_ALL, LC_CTYPE, LANG, TERM }: Environment): Glyphs {
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '') ?? '';
  return /utf-?8/i.test(locale) && TERM !== 'linux' ? UNICODE : ASCII;
}

const GRAPHEMES = new Intl.Segmenter();

/** Fits foreign text into columns: escaped, cut, and padded with spaces. */
export function fitText(text: string, columns: number, { more }: Glyphs): string {
  const safe = escapeForTerminal(text);
  if (columns <= 0) return '';
  const width = safe.length > 4 * columns ? columns + 1 : strlen(safe);
  if (width <= columns) return safe + ' '.repeat(columns - width);
  let cut = '';
  let taken = 0;
  for (const { segment } of GRAPHEMES.segment(safe)) {
    // Any number of marks can pile up on one letter.
    const size = segment.length > 16 ? columns : strlen(segment);
    if (taken + size > columns - 1) break;
    cut += segment;
    taken += size;
  }
  return cut + more + ' '.repeat(Math.max(0, columns - taken - 1));
}

/** Draws a small plot of the newest values, one column each. */
export function plot(values: readonly number[], columns: number, { levels }: Glyphs): string {
  const shown = values.slice(-columns);
  const highest = Math.max(1, ...shown);
  const bars = shown.map((value) =>
    value === 0 ? ' ' : (levels[Math.ceil((value / highest) * levels.length) - 1] ?? ' '),
  );
  return bars.join('').padStart(columns);
}
