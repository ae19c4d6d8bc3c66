import { countColumns, type TerminalStream } from './io.ts';

export type Wrapping = {
  readonly width: number;
  /** Columns that a label takes in the first line. */
  readonly start: number;
  /** Columns before each further line. */
  readonly indent: number;
};

/**
 * A word, or a command to copy, with its quoted arguments whole: a line break in a command would be copied too, while the
 * terminal's own wrapping is not.
 */
const UNIT =
  /\(?(?:\bnode (?:'[^']*rtc\.js'|[^\s']*rtc\.js)|\b(?:rtc|chmod|mkdir|ls|iconv)) (?:(?<=[\s=])(?:'[^']*'|"[^"]*")|[^;,()\s]|\s(?=[^;,()\s]))+\)?|\S+/g;

/** Breaks a line between its words, if it is longer than the width. */
export function wrapWords(text: string, { width, start, indent }: Wrapping): string {
  if (start + text.length <= width) return text;
  const lines: string[] = [];
  let line = '';
  let end = 0;
  for (const { 0: unit, index } of text.matchAll(UNIT)) {
    const gap = text.slice(end, index);
    const taken = lines.length === 0 ? start : 0;
    end = index + unit.length;
    if (line.trim() === '' || taken + line.length + gap.length + unit.length <= width) {
      line += gap + unit;
    } else {
      lines.push(line);
      line = ' '.repeat(indent) + unit;
    }
  }
  return [...lines, line].join('\n');
}

/**
 * Wraps text for a terminal; returns it unchanged elsewhere. Further lines of a labelled text are indented below its first.
 */
export function wrapForTerminal(stream: TerminalStream, text: string, label = 0): string {
  if (stream.isTTY !== true) return text;
  const own = /^ */.exec(text)?.[0].length ?? 0;
  return wrapWords(text, {
    width: countColumns(stream),
    start: label,
    indent: label === 0 ? own + 2 : label + own,
  });
}
