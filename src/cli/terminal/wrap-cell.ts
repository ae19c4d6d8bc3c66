import { strlen } from 'cli-table3/src/utils.js';

/** A text as a palette paints it: SGR sequences before and after it, and none within. */
const PAINTED = /^((?:\u001b\[[\d;]*m)*)([^\u001b]*)((?:\u001b\[[\d;]*m)*)$/;

/**
 * The lines of a cell, each at most so many columns wide and painted as the whole: broken between words, and within
 * those that are longer than a line. Done here, as cli-table3 cuts such words off, and takes time with the square of
 * the length.
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
    for (const [index, piece] of piecesOf(word, columns).entries()) {
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

/** A word, or as many parts of it as a line takes each. */
function piecesOf(word: string, columns: number): readonly Piece[] {
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
