/**
 * Other spellings of a place's name, tried if no place has the name as typed: written-out abbreviations, and the words
 * around the name of a state. Among all comuni in force, no abbreviation is ambiguous.
 */

/** Returns the name with its abbreviations written out in every way; empty if it has none. */
export const writtenOut = (name: string): readonly string[] => {
  const words = PHRASES.reduce((text, [short, long]) => text.replace(short, long), name.toUpperCase())
    .split(/[\s.]+/)
    .filter((word) => word !== '');
  const readings = words.map((word) => ABBREVIATIONS.get(word) ?? [word]);
  const all = readings.reduce<readonly string[]>(
    (begun, next) =>
      begun.length * next.length > MAX_READINGS
        ? begun.map((text) => `${text} ${next[0] ?? ''}`)
        : begun.flatMap((text) => next.map((word) => `${text} ${word}`)),
    [''],
  );
  const typed = words.join(' ');
  return all
    .map((text) => text.trim())
    .filter((text) => text !== typed || typed !== name.toUpperCase().trim());
};

/** Returns the name and the two letters of a province behind it: `Morlupo RM`, `Roma - RM`, `Castro (LE)`. */
export const splitProvince = (
  name: string,
): { readonly bare: string; readonly province: string } | undefined => {
  const [, bare, bracketed, plain] = WITH_PROVINCE.exec(name) ?? [];
  const province = bracketed ?? plain;
  return bare === undefined || province === undefined ? undefined : { bare, province };
};

const WITH_PROVINCE = /^(.*[^\s,;/[(-])(?:\s*[[(]\s*([A-Z]{2})\s*[\])]|[\s,;/-]+([A-Z]{2}))\s*$/i;

/** Returns the name with I instead of J and J instead of I in every way, as old and new spellings differ. */
export const withOtherLetters = (name: string): readonly string[] => {
  const letters = name.toUpperCase();
  const places = [...letters.matchAll(/J|I(?=[AEIOU])/g)].slice(0, MAX_LETTERS).map(({ index }) => index);
  const spellings = places.reduce<readonly string[]>(
    (begun, at) =>
      begun.flatMap((text) => ['I', 'J'].map((letter) => text.slice(0, at) + letter + text.slice(at + 1))),
    [letters],
  );
  return spellings.filter((text) => text !== letters);
};

/** Four make sixteen spellings; the longest name of a comune has two. */
const MAX_LETTERS = 4;

/**
 * Returns names that may be the essential part of a state's name: `Ex Jugoslavia`, `Repubblica di Cuba`, `Marshall
 * (Isole)`, `Isola della Riunione`, `United Republic of Tanzania`; and the parts of `Niue o Savage (Isole)`.
 */
export const stateNames = (name: string): readonly string[] => {
  const text = name
    .trim()
    .toUpperCase()
    .replace(/\s+/g, ' ')
    .replace(/^(.+) \((ISOL[AE])\) (.+)$/, '$2 $1 $3');
  const cores = STATE_FORMS.flatMap((pattern) => pattern.exec(text)?.[1] ?? []).slice(0, 1);
  return cores.flatMap((core) => [
    core,
    `ISOLE ${core}`,
    `ISOLA DI ${core}`,
    `REPUBBLICA ${core}`,
    `REPUBBLICA DI ${core}`,
    ...(text.startsWith('ISOL') ? [text] : []),
  ]);
};

/** Returns the names that a table of states gives as alternatives: `Malvine / Falkland (Isole)`, `Figi o Viti (Isole)`. */
export const alternativeNames = (name: string): readonly string[] => {
  const bare = name.replace(/\(ISOL[AE]\)/i, '').trim();
  const halves = bare.split(/\s*[/=]\s*|\s+O\s+/i).filter((half) => half !== '');
  return halves.length > 1 ? halves : [];
};

/** Saints have up to four forms. Three saints in one name are still read in every way. */
const MAX_READINGS = 64;

const ABBREVIATIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['S', ['SAN', 'SANTO', 'SANTA', "SANT'"]],
  ['SS', ['SANTI', 'SANTISSIMA', 'SANTISSIMO']],
  ['STA', ['SANTA']],
  ['STO', ['SANTO']],
  ['STE', ['SAINTE']],
  // Sankt in the province of Bolzano, Saint in the Aosta Valley.
  ['ST', ['SANTO', 'SANTA', 'SANKT', 'SAINT', 'ST']],
  ['SANKT', ['SANKT', 'ST']],
]);

/** Abbreviations of several words, and those with the full stop inside the word. */
const PHRASES: readonly (readonly [short: RegExp, long: string])[] = [
  [/\bS\.\s?S\.\s?D\.\s?V\.?/, ' SULLA STRADA DEL VINO'],
  [/\bSTR\.\s?(?=DEL VINO)/, 'STRADA '],
  [/\bA\.?\s?D\.\s?(?:WEINSTR(?:ASSE)?|W)\b\.?/, ' AN DER WEINSTRASSE'],
  [/\bS\.\s?(TA|TO|TE)\b/, 'S$1'],
  [/\bS\.\s?S\./, 'SS.'],
  [/^S'\s?/, "SANT'"],
];

const OF = "(?:DI |DEL |DELLO |DELLA |DELL'|DEI |DEGLI |DELLE )";

/** Each captures the essential part of the name. */
const STATE_FORMS: readonly RegExp[] = [
  /^EX[ -]+(.+)$/,
  new RegExp(`^(?:REPUBBLICA|REP\\.?|ISOL[AE]) ${OF}?(.+)$`),
  new RegExp(
    `^(?:REGNO|PRINCIPATO|STATO|GRANDUCATO|SULTANATO|EMIRATO|ATOLLO|DOMINIO|TERRITORIO|DIPENDENZA|BALIATO) ${OF}(.+)$`,
  ),
  /^(.+?) ?\((?:REPUBBLICA|REP\.?|ISOL[AE]|REGNO|PRINCIPATO|STATO)[^()]*\)$/,
  /^(.+?), (?:REPUBBLICA|REP\.?|ISOL[AE]|REGNO|PRINCIPATO|STATO)[^,]*$/,
  /^(.+) REPUBBLICA$/,
  // Not "democratic", nor "people's": with them it is mostly another state.
  /^(?:THE )?(?:(?:ISLAMIC|UNITED|PLURINATIONAL|BOLIVARIAN|FEDERATED) )?(?:REPUBLIC|STATES?|KINGDOM|PRINCIPALITY|SULTANATE|COMMONWEALTH) OF (?:THE )?(.+)$/,
  /^THE (.+)$/,
];
