/**
 * Matches names without the small words that people leave out or change (`Reggio Calabria`, `San Giorgio Cremano`), and
 * names whose last words are abbreviated after `s/` (`Cernusco s/N.`). They are tried after the name as it is written.
 */
import { folded, foldedLength } from './fold-name.ts';
import { foldWords, typedWordEnds } from './name-matchers.ts';
import { LETTER, type PlaceIndex, placeIndex, WORD_START } from './place-index.ts';
import { ALIAS, allRecords } from './place-records.ts';

/** Calls back for each record that has the same words as the text, except for small words. */
export const forEachLooseMatch = (name: string, visit: (record: number) => void): void => {
  const typed = mainWords(wordsOfText(name));
  if (typed.length === 0) return;
  looseEntries ??= indexLoosely();
  for (const record of looseEntries.get(typed.join(' ')) ?? []) visit(record);
};

/**
 * Does the same for `Cernusco s/N.`: the words before, then `sul` in any form, then words that begin with the typed ones.
 */
export const forEachSlashMatch = (name: string, visit: (record: number) => void): void => {
  const [, before, after] = /^(.+?)\s+s\/\s?(.+)$/i.exec(name) ?? [];
  if (before === undefined || after === undefined) return;
  const [head, tail] = [wordsOfText(before), wordsOfText(after)];
  if (tail.length === 0) return;
  const index = placeIndex();
  for (let entry = 0; entry < index.count; entry++) {
    const words = wordsOfEntry(index, entry);
    const rest = words.slice(head.length + 1);
    if (
      words[head.length]?.startsWith('SUL') === true &&
      head.every((word, at) => words[at] === word) &&
      tail.every((word, at) => rest[at]?.startsWith(word) === true)
    )
      visit(index.record[entry] ?? 0);
  }
};

let looseEntries: ReadonlyMap<string, readonly number[]> | undefined;

/** Aliases are left out: they are other names already. */
const indexLoosely = (): Map<string, number[]> => {
  const records = allRecords();
  const index = placeIndex();
  const entries = new Map<string, number[]>();
  for (let entry = 0; entry < index.count; entry++) {
    const record = index.record[entry] ?? 0;
    if (records.kind[record] === ALIAS) continue;
    const key = mainWords(wordsOfEntry(index, entry)).join(' ');
    const known = entries.get(key);
    if (known === undefined) entries.set(key, [record]);
    else known.push(record);
  }
  return entries;
};

const SMALL_WORDS: ReadonlySet<string> = new Set(
  'DI DEL DELLO DELLA DELL DEI DEGLI DELLE D IN A AD AL ALLO ALLA ALL AI SU SUL SULLO SULLA SULL CON E ED DA LA LE LO IL L I'.split(
    ' ',
  ),
);

const mainWords = (words: readonly string[]): readonly string[] =>
  words.filter((word) => !SMALL_WORDS.has(word));

const wordsOfText = (text: string): string[] => {
  foldWords(text);
  let from = 0;
  return typedWordEnds().map((to) => {
    const word = String.fromCharCode(...folded.subarray(from, Math.min(to, foldedLength)));
    from = to;
    return word;
  });
};

const wordsOfEntry = ({ pool, start, end }: PlaceIndex, entry: number): string[] => {
  const words: string[] = [];
  for (let at = start[entry] ?? 0; at < (end[entry] ?? 0); at++) {
    const byte = pool[at] ?? 0;
    const letter = String.fromCharCode(byte & LETTER);
    if ((byte & WORD_START) !== 0) words.push(letter);
    else words[words.length - 1] += letter;
  }
  return words;
};
