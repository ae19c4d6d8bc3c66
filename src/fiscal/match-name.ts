/**
 * Finds records by name, through the generated index: for each bucket of folded names, the slots of the places that
 * have one, three base64url digits each. The record's own name then decides.
 */
import { DIGIT_VALUES, pairAt } from './code-table.ts';
import { nameBlock } from './data/places.ts';
import { baseLetters, folded, foldedBucket, foldedLength } from './fold-name.ts';
import { spellInLatin } from './latin-letters.ts';
import { ALIAS, letterOf, lineOf, type PlaceRecords, recordsOf } from './place-records.ts';

/** Calls back for each record that has the name folded last. */
export const forEachMatch = (visit: (records: PlaceRecords, record: number) => void): void => {
  buckets ??= nameBlock().split('~');
  const slots = buckets[foldedBucket()] as string;
  for (let at = 0; at < slots.length; at += 3) {
    const slot = ((DIGIT_VALUES[slots.charCodeAt(at)] as number) << 12) | pairAt(slots, at + 1);
    const records = recordsOf(slot);
    const first = records.first[slot] as number;
    const end = first + (records.length[slot] as number);
    const line = lineOf(records, slot);
    for (let record = first; record < end; record++)
      if (hasName(records, record, line)) visit(records, record);
  }
};

/** The letters, as character codes, that a lower-case letter of the place block folds to. */
export const accentFold = (character: number): readonly number[] =>
  cached(accentFolds, character, baseLetters);

/** As {@link accentFold}, with umlauts spelt AE, OE, UE. */
export const accentSpelling = (character: number): readonly number[] =>
  cached(accentSpellings, character, spellInLatin);

let buckets: readonly string[] | undefined;
const accentFolds: (readonly number[] | undefined)[] = [];
const accentSpellings: (readonly number[] | undefined)[] = [];

const cached = (
  kept: (readonly number[] | undefined)[],
  character: number,
  lettersOf: (letter: string) => string | undefined,
): readonly number[] => {
  const known = kept[character];
  if (known !== undefined) return known;
  const codes = [...(lettersOf(letterOf(character)) ?? '')].map((letter) => letter.charCodeAt(0));
  kept[character] = codes;
  return codes;
};

/** Only aliases have umlauts: the names are Italian, French and Slovene. */
const hasName = (records: PlaceRecords, record: number, line: string): boolean =>
  isFolded(records, record, line, accentFold) ||
  (records.kind[record] === ALIAS && isFolded(records, record, line, accentSpelling));

const isFolded = (
  records: PlaceRecords,
  record: number,
  line: string,
  spell: (character: number) => readonly number[],
): boolean => {
  let at = 0;
  const end = records.nameEnd[record] as number;
  for (let index = records.nameStart[record] as number; index < end; index++) {
    const character = line.charCodeAt(index);
    if (character >= 97) {
      for (const letter of spell(character)) if (folded[at++] !== letter) return false;
    } else if (character >= 65 && (at >= foldedLength || folded[at++] !== character)) return false;
  }
  return at === foldedLength;
};
