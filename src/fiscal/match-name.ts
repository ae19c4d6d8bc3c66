/** Finds records by their whole name. */
import { folded, foldedBucket, foldedLength } from './fold-name.ts';
import { LETTER, type PlaceIndex, placeIndex } from './place-index.ts';

/** Calls back for each record that has the name folded last. */
export const forEachMatch = (visit: (record: number) => void): void => {
  const index = placeIndex();
  for (let entry = index.heads[foldedBucket()] as number; entry >= 0; entry = index.next[entry] as number) {
    if (isFolded(index, entry)) visit(index.record[entry] as number);
  }
};

const isFolded = (index: PlaceIndex, entry: number): boolean => {
  const start = index.start[entry] as number;
  if ((index.end[entry] as number) - start !== foldedLength) return false;
  for (let at = 0; at < foldedLength; at++) {
    if (((index.pool[start + at] as number) & LETTER) !== folded[at]) return false;
  }
  return true;
};
