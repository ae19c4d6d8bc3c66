/** Finds records by their whole name. */
import { type AccentFolds, accentFolds, FIRST_ACCENTED, umlautFolds } from './block-letters.ts';
import { folded, foldedHash, foldedLength, toBucket } from './fold-name.ts';
import { nameIndex } from './name-index.ts';
import { ALIAS, readLine, readRecords } from './place-records.ts';
import { byteAt, intAt, shortAt } from './typed-access.ts';

/** Calls back for each record that has the last folded name. */
export const forEachMatch = (visit: (record: number) => void): void => {
  const { heads, next, hashes, slots } = nameIndex();
  let last = -1;
  for (let entry = shortAt(heads, toBucket(foldedHash)); entry > 0; entry = shortAt(next, entry)) {
    const slot = shortAt(slots, entry);
    // The names of one place follow each other.
    if (intAt(hashes, entry) !== foldedHash || slot === last) continue;
    last = slot;
    visitRecords(slot, visit);
  }
};

const visitRecords = (slot: number, visit: (record: number) => void): void => {
  const records = readRecords(slot);
  const line = readLine(records, slot);
  const first = shortAt(records.first, slot);
  let lastStart = -1;
  let isNamed = false;
  for (let record = first + byteAt(records.length, slot) - 1; record >= first; record--) {
    const start = shortAt(records.nameStart, record);
    // Successive periods mostly share a name.
    if (start !== lastStart) {
      const end = shortAt(records.nameEnd, record);
      isNamed =
        isFolded(line, { start, end, folds: accentFolds() }) ||
        // Only aliases have umlauts: the names are Italian, French and Slovene.
        (records.kind[record] === ALIAS && isFolded(line, { start, end, folds: umlautFolds() }));
      lastStart = start;
    }
    if (isNamed) visit(record);
  }
};

type Name = { readonly start: number; readonly end: number; readonly folds: AccentFolds };

const isFolded = (line: string, { start, end, folds }: Name): boolean => {
  let matched = 0;
  for (let at = start; at < end; at++) {
    const character = line.charCodeAt(at);
    if (character >= FIRST_ACCENTED) {
      const fold = shortAt(folds, character - FIRST_ACCENTED);
      if (byteAt(folded, matched++) !== (fold & 255)) return false;
      if (fold > 255 && byteAt(folded, matched++) !== fold >> 8) return false;
    } else if (character >= 65 && byteAt(folded, matched++) !== character) return false;
  }
  return matched === foldedLength;
};
