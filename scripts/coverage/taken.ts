import { readObjects } from '../../src/contract/unknown-value.ts';

/** Ranges of one script in one process, with their numbers of executions, as V8 counts them. */
export type ScriptCoverage = { readonly url: string; readonly ranges: readonly Range[] };

export type Range = { readonly start: number; readonly end: number; readonly count: number };

/** Reads a file that Node writes into NODE_V8_COVERAGE. */
export function readCoverage(text: string): readonly ScriptCoverage[] {
  const { result } = JSON.parse(text);
  return readObjects(result).map(({ url, functions }) => ({
    url: String(url),
    ranges: readObjects(functions)
      .flatMap((one) => readObjects(one.ranges))
      .map(({ startOffset, endOffset, count }) => ({
        start: Number(startOffset),
        end: Number(endOffset),
        count: Number(count),
      })),
  }));
}

/**
 * Returns those offsets, which are in order, at which something ran. The innermost range around an offset counts: V8 leaves
 * out ranges that ran as often as the one around them.
 */
export function takenOffsets(offsets: readonly number[], ranges: readonly Range[]): readonly number[] {
  const ordered = ranges.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const open: Range[] = [];
  let next = 0;
  return offsets.filter((offset) => {
    for (let range = ordered[next]; range !== undefined && range.start <= offset; range = ordered[next]) {
      closeUntil(open, range.start);
      open.push(range);
      next += 1;
    }
    closeUntil(open, offset);
    return (open.at(-1)?.count ?? 0) > 0;
  });
}

function closeUntil(open: Range[], offset: number): void {
  for (let last = open.at(-1); last !== undefined && last.end <= offset; last = open.at(-1)) open.pop();
}
