import { strlen } from 'cli-table3/src/utils.js';

/** A text as a palette paints it: SGR sequences before and after it, and none within. */
const PAINTED = /^((?:\u001b\[[\d;]*m)*)([^\u001b]*)((?:\u001b\[[\d;]*m)*)$/;

/**
 * Returns the lines of a cell, each at most so many columns wide and coloured like the whole: broken between words, and
 * within words that are longer than a line. Written by hand, because cli-table3 cuts such words off, and takes time with the
 * square of the length.
 */
export function wrapCell(cell: string, columns: number): readonly string[] {
  if (strlen(cell) <= columns) return [cell];
  const [, before = '', text = cell, after = ''] = PAINTED.exec(cell) ?? [];
  return linesOf(text, columns).map((line) => before + line + after);
}

function linesOf(text: string, columns: number): readonly string[] {
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
  const width = strlen(word);
  if (width <= columns) return [{ text: word, width }];
  const pieces: { text: string; width: number }[] = [];
  let last = { text: '', width: 0 };
  for (const { segment } of new Intl.Segmenter('en').segment(word)) {
    const more = strlen(segment);
    if (last.text === '' || last.width + more > columns) {
      last = { text: '', width: 0 };
      pieces.push(last);
    }
    last.text += segment;
    last.width += more;
  }
  return pieces;
}
