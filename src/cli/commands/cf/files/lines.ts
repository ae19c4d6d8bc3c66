/*
 * Reads lines of a byte stream without making a string of each, because a million lines a second pass here. A line is passed
 * on as a stretch of bytes that is valid until the visitor returns.
 */

/** `bytes[start]` up to, not including, `bytes[end]`, without the line end. */
export type ByteLine = {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** Number of the line, from 1. */
  readonly number: number;
};

export type LineVisitor = {
  /** Gets the same object for every line, which saves making a million objects a second. */
  readonly visit: (line: ByteLine) => void;
  /** Called for a line of more than `maxLineBytes`, counting the CR of a CRLF. */
  readonly visitTooLong: (line: number) => void;
  /** Called after the lines of each piece of input, to write and to wait for the writing. */
  readonly afterChunk: () => Promise<void>;
};

const LF = 10;
const CR = 13;

/** The last line needs no line end; a final line end makes no empty line. CRLF is a line end too. */
export async function eachLine(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  visitor: LineVisitor,
): Promise<void> {
  const carry = createCarry(maxLineBytes);
  const line = { bytes: carry.bytes, start: 0, end: 0, number: 0 };
  const visit = (bytes: Uint8Array, start: number, end: number): void => {
    line.number += 1;
    line.bytes = bytes;
    line.start = line.number === 1 ? start + byteOrderMark(bytes, start, end) : start;
    line.end = end > line.start && bytes[end - 1] === CR ? end - 1 : end;
    visitor.visit(line);
  };
  const visitCarried = (): void => {
    if (carry.isOverfull()) visitor.visitTooLong(++line.number);
    else visit(carry.bytes, 0, carry.length());
    carry.clear();
  };
  for await (const chunk of chunks) {
    const size = chunk.length;
    let start = 0;
    for (let at = 0; at < size; at++) {
      if (chunk[at] !== LF) continue;
      if (carry.isEmpty()) {
        if (at - start > maxLineBytes) visitor.visitTooLong(++line.number);
        else visit(chunk, start, at);
      } else {
        carry.add(chunk, start, at);
        visitCarried();
      }
      start = at + 1;
    }
    if (start < size) carry.add(chunk, start, size);
    await visitor.afterChunk();
  }
  if (!carry.isEmpty()) visitCarried();
  await visitor.afterChunk();
}

type Carry = {
  readonly bytes: Uint8Array;
  readonly length: () => number;
  readonly isEmpty: () => boolean;
  readonly isOverfull: () => boolean;
  readonly add: (chunk: Uint8Array, start: number, end: number) => void;
  readonly clear: () => void;
};

/** Keeps the beginning of a line whose end is in a later chunk, up to the limit. */
function createCarry(limit: number): Carry {
  const bytes = new Uint8Array(limit + 1);
  let length = 0;
  return {
    bytes,
    length: () => length,
    isEmpty: () => length === 0,
    isOverfull: () => length > limit,
    add: (chunk, start, end) => {
      const count = Math.min(end - start, bytes.length - length);
      bytes.set(chunk.subarray(start, start + count), length);
      length += count;
    },
    clear: () => {
      length = 0;
    },
  };
}

/** 3 when there is a byte order mark of UTF-8, which editors on Windows write; else 0. */
function byteOrderMark(bytes: Uint8Array, start: number, end: number): number {
  const isMark =
    end - start >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
  return isMark ? 3 : 0;
}
