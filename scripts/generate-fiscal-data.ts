/**
 * Writes src/fiscal/data/*.ts from the CSV and JSON files of data/: `node scripts/generate-fiscal-data.ts`. The output is
 * deterministic. With `--check` it writes nothing, and fails if a file is out of date.
 *
 * Each block is one ASCII string. Engines keep a source file with only such characters at one byte a character, and load a
 * string literal faster than an array of the same content. There are no escapes, because bundlers would replace them by
 * characters. src/fiscal/code-table.ts and src/fiscal/geography/place-records.ts, which read the blocks, describe their layout.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { createPlaceReader, unpackRanks } from '../src/fiscal/geography/unpack-places.ts';
import { unpackPostalCodes } from '../src/fiscal/geography/unpack-postal-codes.ts';
import type { Packed } from '../src/fiscal/packed-symbols.ts';
import { createCodeReader, dateDigits, unpackDates } from '../src/fiscal/unpack-codes.ts';
import {
  countDays,
  datesOfPlaces,
  datesOfSpans,
  dayAfter,
  listCodes,
  listPlaces,
  listPostalCodes,
  PARTS,
  type PackedPlace,
  type Period,
  packSymbols,
  writeDates,
  writeNames,
} from './pack-fiscal-data.ts';

type Row = Readonly<Record<string, string>>;
type Place = {
  readonly code: string;
  readonly undated: boolean;
  readonly periods: Period[];
  readonly aliases: string[];
  /** The day after the last day of an undated place, if a source gives it. */
  ended: string;
  /**
   * A letter for the evidence, then the code of the successor, or the codes of the places into which this one was divided.
   */
  successors: string;
};

const root = new URL('../', import.meta.url);
const SOURCES = [
  'places.csv',
  'places-undated.csv',
  'aliases.csv',
  'aliases-everyday.csv',
  'aliases-states.csv',
  'caps.csv',
  'caps_changes.csv',
  'caps_frazioni.csv',
  'foreign-cities.csv',
  'population.csv',
  'regions.json',
  'sardinia-istat-2026.csv',
  'state-starts.csv',
  'successor_evidence.csv',
  'territories.csv',
  'twins.csv',
];
const DATA_VERSION = '2026-11';
const CAPS_AS_OF = '2026-11';
const LETTERS = 'ABCDEFGHILMZ';
/** Names are upper case, so lower-case letters represent the accented ones. This keeps the block ASCII. */
const ACCENTED = 'ÈÒÀÌÙÉÂÔÇÊŽŠČÖÜÄÆØÃ';

/** Returns the expected content of the generated files by name. */
export const generateFiscalData = (): ReadonlyMap<string, string> => {
  const places = readPlaces();
  const packed = toPackedPlaces(places);
  return new Map([
    ['code-table.ts', codeTableModule(packed)],
    ['places.ts', placesModule(packed)],
    ['territory.ts', territoryModule(places)],
    ['postal-codes.ts', postalCodesModule(places)],
    ['residents.ts', residentsModule(places)],
    ['foreign-cities.ts', foreignCitiesModule(places)],
    ['istat-provinces.ts', istatProvincesModule(places)],
  ]);
};

const read = (name: string): string => readFileSync(new URL(`data/${name}`, root), 'utf8');
const rows = (name: string): Row[] => parse(read(name), { columns: true });
const field = (row: Row, name: string): string => {
  const value = row[name];
  if (value === undefined) throw new Error(`column ${name} is missing`);
  return value;
};

const toSlot = (code: string): number => LETTERS.indexOf(code.charAt(0)) * 1000 + Number(code.slice(1));

const readPlaces = (): Place[] => {
  const places = new Map<string, Place>();
  const findPlace = (code: string, undated: boolean): Place => {
    if (!/^[A-IL-MZ][0-9]{3}$/.test(code)) throw new Error(`not a place code: ${code}`);
    const known = places.get(code) ?? {
      code,
      undated,
      periods: [],
      aliases: [],
      ended: '',
      successors: '',
    };
    if (known.undated !== undated) throw new Error(`${code} is in both place files`);
    places.set(code, known);
    return known;
  };
  for (const row of rows('places.csv')) {
    const place = findPlace(field(row, 'code'), false);
    const [name, province] = [field(row, 'name'), field(row, 'province')];
    place.periods.push({ name, province, from: field(row, 'valid_from'), to: field(row, 'valid_to') });
    // The file with the evidence contains only comuni.
    const successor = field(row, 'successor_code');
    if (province === 'EE' && successor !== '' && successor !== place.code) place.successors = `t${successor}`;
  }
  for (const row of rows('places-undated.csv')) {
    const place = findPlace(field(row, 'code'), true);
    const name = field(row, 'name');
    place.periods.push({ name, province: field(row, 'province'), from: '', to: '' });
    place.aliases.push(...otherSpellings(name));
    place.ended = field(row, 'ended') || place.ended;
    const successor = field(row, 'successor_code');
    if (successor !== '') place.successors = undatedEvidence(field(row, 'evidence')) + successor;
  }
  for (const row of ['aliases.csv', 'aliases-everyday.csv', 'aliases-states.csv'].flatMap(rows)) {
    places.get(field(row, 'code'))?.aliases.push(field(row, 'alias'));
  }
  readSuccessors(places);
  readTwins(places);
  for (const { code } of places.values()) refuseCycle(places, code);
  return [...places.values()].sort((a, b) => toSlot(a.code) - toSlot(b.code));
};

/** The library follows successors to the last one, so a cycle would never end. */
const refuseCycle = (places: ReadonlyMap<string, Place>, code: string): void => {
  const seen = new Set([code]);
  const findNext = (last: string): string =>
    /^[a-ce-z]([A-Z]\d{3})$/.exec(places.get(last)?.successors ?? '')?.[1] ?? '';
  for (let next = findNext(code); next !== ''; next = findNext(next)) {
    if (seen.has(next)) throw new Error(`the successors of ${code} come back to ${next}`);
    seen.add(next);
  }
};

/** The letters are explained in src/fiscal/geography/place-records.ts, which reads them. */
const EVIDENCE_LETTERS: Readonly<Record<string, string>> = {
  istat: 'i',
  'istat-2026': 'i',
  'istat+corpi-santi': 'i',
  'istat-ceded': 'i',
  'istat-same-code': 'c',
  'istat-split-one-heir': 's',
  'istat-split-seat': 's',
  'istat-divided': 'd',
};

const undatedEvidence = (evidence: string): string =>
  evidence.startsWith('istat') ? (evidence.includes('divided') ? 's' : 'i') : 't';

/**
 * Uses the first successor if the chain of first successors ends at the comune of today. Then a date in between finds the
 * comune of that time. Otherwise uses the comune of today.
 */
const readSuccessors = (places: ReadonlyMap<string, Place>): void => {
  const evidence = new Map(rows('successor_evidence.csv').map((row) => [field(row, 'code'), row]));
  const findFirst = (code: string): string => {
    const row = evidence.get(code);
    return row === undefined ? '' : field(row, 'successor_first');
  };
  const endOfChain = (code: string): string => {
    let last = code;
    for (let next = findFirst(last); next !== ''; next = findFirst(last)) last = next;
    return evidence.has(last) ? '' : last;
  };
  for (const row of evidence.values()) {
    const place = places.get(field(row, 'code'));
    const [first, today] = [field(row, 'successor_first'), field(row, 'successor_code')];
    const letter = EVIDENCE_LETTERS[field(row, 'evidence')];
    if (place === undefined || letter === undefined) throw new Error(`cannot read ${JSON.stringify(row)}`);
    const successor = first !== '' && endOfChain(first) === today ? first : today;
    const heirs = letter === 'd' ? field(row, 'heirs_today').replaceAll(' ', '') : successor;
    if (heirs !== '' && heirs !== place.code) place.successors = letter + heirs;
  }
};

/** Reads undated states that ended in a known year, and the states that they became or joined. */
const readTwins = (places: ReadonlyMap<string, Place>): void => {
  for (const row of rows('twins.csv')) {
    const year = /(?:till|since) (\d{4})/.exec(field(row, 'resolution'))?.[1];
    const place = places.get(field(row, 'code'));
    if (year === undefined || place === undefined || field(row, 'relation') !== 'predecessor or part')
      continue;
    if (field(row, 'resolution').includes('still given')) continue;
    place.ended = `${Number(year) + 1}-01-01`;
    place.successors = `t${field(row, 'twin_code')}`;
  }
};

/**
 * The undated list writes `A=B` for two names, and `GUAM (ISOLA)` for a name that people also write in another order.
 * GUAYANA is left out, because it looks like a typing error of GUYANA, which is another state.
 */
const otherSpellings = (name: string): string[] => {
  const names = name.includes('=') ? name.split('=').filter((half) => half !== 'GUAYANA') : [];
  const island = /^(.+) \((ISOL[AE])\)$/.exec(names[0] ?? name);
  return island ? [...names, `${island[1]}`, `${island[2]} ${island[1]}`] : names;
};

/** As src/fiscal/geography/place-records.ts has it. */
const provinceNumber = (abbreviation: string): number =>
  (abbreviation.charCodeAt(0) - 65) * 26 + abbreviation.charCodeAt(1) - 65;

const toPackedPlaces = (places: readonly Place[]): PackedPlace[] => {
  const starts = new Map(rows('state-starts.csv').map((row) => [field(row, 'code'), field(row, 'start')]));
  return places.map((place) => ({
    slot: toSlot(place.code),
    periods: place.periods.map((period) => ({ ...period, name: withoutUmlauts(ascii(period.name)) })),
    spans: place.undated ? [] : joinedSpans(place, starts.get(place.code)),
    // In the order of the alphabet they share more beginnings.
    aliases: [...new Set(place.aliases)].map(ascii).sort(),
    ended: place.ended,
    successors: place.successors,
  }));
};

const codeTableModule = (places: readonly PackedPlace[]): string => {
  const dates = datesOfSpans(places);
  const packed = packSymbols(listCodes(places), (symbols) =>
    unpackParts(createCodeReader(symbols, dates.length)),
  );
  return module([
    importOf('packed-symbols', 'unpackSymbols'),
    "import { type CodeBlocks, createCodeReader, unpackDates } from '../unpack-codes.ts';",
    `/** The days of all spans, as unpackDates returns them. */`,
    `export function datesOfSpans(): readonly number[] {\n  return unpackDates(${literal(writeDates(dates))});\n}`,
    `export function codeBlocks(): (part: number) => CodeBlocks {\n  return createCodeReader(unpackSymbols(${packedLiteral(packed)}), ${dates.length});\n}`,
  ]);
};

const unpackParts = <Block>(read: (part: number) => Block): Block[] => PARTS.map(read);

/** place-index.ts folds the umlauts of aliases only, which n, o and p represent. */
const withoutUmlauts = (name: string): string => {
  if (/[nop]/.test(name)) throw new Error(`${name} has an umlaut`);
  return name;
};

const importOf = (file: string, name: string): string => `import { ${name} } from '../${file}.ts';`;

/** A new name or province does not end a place: such periods are joined into one span. */
const joinedSpans = (place: Place, start = ''): { from: string; to: string }[] => {
  const spans: { from: string; to: string }[] = [];
  for (const { from: recorded, to } of place.periods) {
    const from = recorded === '' ? start : recorded;
    const last = spans.at(-1);
    if (last === undefined || (last.to !== '' && from > dayAfter(last.to))) spans.push({ from, to });
    else if (last.to !== '' && (to === '' || to > last.to)) last.to = to;
  }
  return spans;
};

const placesModule = (places: readonly PackedPlace[]): string => {
  const bySlot = new Map(places.map((place) => [place.slot, place.spans]));
  const toDigits = (date: string): string => (date === '' ? '' : dateDigits(countDays(date)));
  const readSpans = (slot: number): readonly string[] | undefined =>
    bySlot.get(slot)?.flatMap(({ from, to }) => [toDigits(from), toDigits(to)]);
  const provinces = provincesEver(places);
  const { names, aliases } = writeNames(places);
  const dates = writeDates(datesOfPlaces(places));
  const known = { provinces, dates: unpackDates(dates), names, aliases, readSpans };
  const packed = packSymbols(listPlaces(places, provinces), (symbols) =>
    unpackParts(createPlaceReader(symbols, known)),
  );
  return module([
    importOf('code-table', 'readSpans'),
    importOf('packed-symbols', 'unpackSymbols'),
    importOf('unpack-codes', 'unpackDates'),
    importOf('geography/unpack-places', 'createPlaceReader'),
    `/** Unicode code points of the letters that a, b, c... stand for. */`,
    `export const ACCENTED_LETTERS: readonly number[] = [${[...ACCENTED].map((letter) => letter.codePointAt(0)).join(', ')}];`,
    `/** The abbreviations of all provinces that any place was ever in. */`,
    `export const PROVINCES =\n  '${provinces}';`,
    `export function placeBlocks(): (part: number) => string {`,
    `  return createPlaceReader(unpackSymbols(${packedLiteral(packed)}), {`,
    `    provinces: PROVINCES,\n    dates: unpackDates(${literal(dates)}),\n    readSpans,`,
    `    ...placeNames(),\n  });\n}`,
    `/** The names of places and those in other languages, by part, as createNameReader reads them. */`,
    `export function placeNames(): { readonly names: readonly string[]; readonly aliases: readonly string[] } {`,
    `  return {\n    names: ${list(names)},\n    aliases: ${list(aliases)},\n  };\n}`,
  ]);
};

const provincesEver = (places: readonly PackedPlace[]): string =>
  [...new Set(places.flatMap(({ periods }) => periods.map(({ province }) => province)))].sort().join('');

const ascii = (name: string): string => {
  const text = [...name]
    .map((letter) =>
      ACCENTED.includes(letter) ? String.fromCharCode(97 + ACCENTED.indexOf(letter)) : letter,
    )
    .join('');
  if (/[^A-Za-z '().,/=-]/.test(text) || /[a-z]/.test(name))
    throw new Error(`cannot encode the name ${name}`);
  return text;
};

/** Provinces whose capital has another name than the province. */
const CAPITALS: Readonly<Record<string, string>> = {
  VB: 'VERBANIA',
  MB: 'MONZA',
  BT: 'BARLETTA',
  SU: 'CARBONIA',
  FC: 'FORLÌ',
  PU: 'PESARO',
  MS: 'MASSA',
  AO: 'AOSTA',
  BZ: 'BOLZANO',
  RC: 'REGGIO DI CALABRIA',
  RE: "REGGIO NELL'EMILIA",
};

type Region = {
  readonly name: string;
  readonly provinces: readonly { readonly name: string; readonly abbreviation: string }[];
};

const comuniInForce = (places: readonly Place[]): Place[] =>
  places.filter((place) => place.periods.some(({ to }) => to === '') && !isStatoOrUndated(place));

const territoryModule = (places: readonly Place[]): string => {
  const comuni = comuniInForce(places);
  const regions = (JSON.parse(read('regions.json')) as Region[]).map((region) => {
    const provinces = region.provinces.map(
      ({ name, abbreviation }) => `${abbreviation}${findCapital(comuni, name, abbreviation)}${name}`,
    );
    return [region.name, ...provinces].join('|');
  });
  const hash = createHash('sha256');
  for (const name of SOURCES) hash.update(read(name));
  return module([
    `export const DATA_VERSION = '${DATA_VERSION}';`,
    `export const DATA_FINGERPRINT = '${hash.digest('hex').slice(0, 16)}';`,
    `/** Region, then its provinces as abbreviation, place code of the capital, name. {e9} is U+00E9. */`,
    block('regionBlock', regions.join('~')),
  ]);
};

const postalCodesModule = (places: readonly Place[]): string => {
  const changes = rows('caps_changes.csv');
  const former = changes
    .filter((row) => field(row, 'removed') !== '')
    .map((row) => field(row, 'code') + field(row, 'removed').replaceAll(' ', ''));
  const replaced = changes
    .filter((row) => field(row, 'kind') === 'transition')
    .map((row) => field(row, 'code') + field(row, 'added'));
  const comuni = comuniInForce(places);
  const provinces = comuni.map(({ periods }) =>
    provinceNumber(periods.find(({ to }) => to === '')?.province ?? ''),
  );
  const packedCaps = packSymbols(
    listPostalCodes(listCaps(comuni).map((caps, at) => ({ caps, province: provinces[at] ?? 0 }))),
    (symbols) => unpackPostalCodes(symbols, provinces),
  );
  return module([
    importOf('packed-symbols', 'unpackSymbols'),
    importOf('geography/place-records', 'provincesInForce'),
    importOf('geography/unpack-postal-codes', 'unpackPostalCodes'),
    `/** Year and month that the postal codes are of. */`,
    `export const CAPS_AS_OF = '${CAPS_AS_OF}';`,
    `/** For each comune in force, in the order of codes: its postal codes, five digits each. */`,
    `export function capBlock(): string {\n  return unpackPostalCodes(unpackSymbols(${packedLiteral(packedCaps)}), provincesInForce());\n}`,
    `/** A postal code, the place code of a comune, then the frazioni of it that have the code, joined by commas. */`,
    block(
      'frazioneBlock',
      capsOfFrazioni()
        .map(({ cap, code, names }) => cap + code + names.join(','))
        .join('~'),
    ),
    `/** A place code, then the postal codes that it had until a few years ago. */`,
    block('formerCapBlock', former.sort().join(' ')),
    `/** A place code, then the new postal code that replaces its others at the end of March 2027. */`,
    block('replacingCapBlock', replaced.sort().join(' ')),
  ]);
};

/**
 * What divides the numbers of residents: a step of 1.25 from 16,000 on, where people look for a place by a part of its name, and
 * one of 2.5 below, because three of four comuni are smaller, and each rank of theirs costs a page.
 */
const RESIDENTS_STEPS: readonly number[] = [
  ...[1_250, 3_125, 7_800],
  ...Array.from({ length: 24 }, (_, step) => 16_000 * 1.25 ** step),
];

const residentsModule = (places: readonly Place[]): string => {
  const residents = new Map(
    rows('population.csv').map((row) => [field(row, 'code'), Number(field(row, 'residents'))]),
  );
  const ranks = comuniInForce(places).map(({ code }) => {
    const own = residents.get(code) ?? 0;
    return RESIDENTS_STEPS.filter((step) => own >= step).length;
  });
  const packed = packSymbols([ranks], (symbols) => unpackRanks(symbols, ranks.length));
  return module([
    importOf('packed-symbols', 'unpackSymbols'),
    importOf('geography/unpack-places', 'unpackRanks'),
    `/** For each comune in force, in the order of codes: a base64url digit that grows with the number of residents. */`,
    `export function residentsBlock(): string {\n  return unpackRanks(unpackSymbols(${packedLiteral(packed)}), ${ranks.length});\n}`,
  ]);
};

const foreignCitiesModule = (places: readonly Place[]): string => {
  const states = new Set(places.map(({ code }) => code));
  const namesByState = (file: string, column: string): string => {
    const names = new Map<string, string[]>();
    for (const row of rows(file)) {
      const code = field(row, 'state_code');
      if (!states.has(code)) throw new Error(`${file} has ${code}, which is no state`);
      names.set(code, [...(names.get(code) ?? []), field(row, column)]);
    }
    return [...names].map(([code, all]) => code + all.join(',')).join('~');
  };
  return module([
    `/** A state's place code, then cities of it as Italians call them, joined by commas, in upper case without accents. */`,
    block('foreignCityBlock', namesByState('foreign-cities.csv', 'city')),
    `/** In the same form: a code that the tax office has used, then territories without a code of their own. */`,
    block('territoryBlock', namesByState('territories.csv', 'name')),
  ]);
};

/** The comuni of Sardinia for which ISTAT has another province than ANPR. */
const istatProvincesModule = (places: readonly Place[]): string => {
  const provinceToday = new Map(
    comuniInForce(places).map(({ code, periods }) => [code, periods.find(({ to }) => to === '')?.province]),
  );
  const codes = new Map<string, string[]>();
  for (const row of rows('sardinia-istat-2026.csv')) {
    const [code, abbreviation] = [field(row, 'code'), field(row, 'abbreviation')];
    const ours = provinceToday.get(code);
    if (ours === undefined) throw new Error(`sardinia-istat-2026.csv has ${code}, which is not in force`);
    if (ours === abbreviation) continue;
    const province = `${abbreviation}${field(row, 'unit')}`;
    codes.set(province, [...(codes.get(province) ?? []), code].sort());
  }
  const texts = [...codes].sort().map(([province, comuni]) => `${province}|${comuni.join('')}`);
  return module([
    `/** ISTAT's abbreviation and name of a province, then the place codes of its comuni that ANPR has in another one. */`,
    block('istatProvinceBlock', texts.join('~')),
  ]);
};

const isStatoOrUndated = (place: Place): boolean => place.undated || place.code.startsWith('Z');

const findCapital = (comuni: readonly Place[], name: string, province: string): string => {
  const capital = CAPITALS[province] ?? name.toUpperCase();
  const found = comuni.filter((place) =>
    place.periods.some((p) => p.to === '' && p.name === capital && p.province === province),
  );
  if (found.length !== 1) throw new Error(`no single capital ${capital} for ${province}`);
  return found.map(({ code }) => code).join('');
};

const listCaps = (comuni: readonly Place[]): string[][] => {
  const caps = new Map<string, string[]>(comuni.map(({ code }) => [code, []]));
  for (const row of rows('caps.csv')) {
    const list = caps.get(field(row, 'code'));
    if (list === undefined) throw new Error(`caps.csv has ${field(row, 'code')}, which is not in force`);
    list.push(field(row, 'cap'));
  }
  for (const { cap, code } of capsOfFrazioni()) {
    const list = caps.get(code);
    if (list === undefined || list.includes(cap)) throw new Error(`caps_frazioni.csv: ${cap} of ${code}`);
    list.push(cap);
  }
  return [...caps.values()].map((list) => list.sort());
};

type Frazioni = { readonly cap: string; readonly code: string; readonly names: readonly string[] };

/** Postal codes that only frazioni of a comune have, and the frazioni. Doubtful rows are left out. */
const capsOfFrazioni = (): Frazioni[] =>
  rows('caps_frazioni.csv')
    .filter((row) => field(row, 'doubt') === '')
    .map((row) => {
      const places = field(row, 'places_of_this_code_by_geonames').split('; ');
      const names = places.map((place) => place.replace(/ [A-Z]{2}$/, '').toUpperCase());
      const unencodable = names.find((name) => /[^A-Z' ]/.test(name));
      if (unencodable !== undefined) throw new Error(`caps_frazioni.csv: ${unencodable}`);
      return { cap: field(row, 'cap'), code: field(row, 'code'), names };
    });

/**
 * Writes a function, because an engine compiles a function only at its first call (except for an arrow without braces), and
 * because bundlers copy a constant string to each place that uses it.
 */
const block = (name: string, text: string): string =>
  `export function ${name}(): string {\n  return ${literal(text)};\n}`;

const packedLiteral = ({ lengths, parts }: Packed): string =>
  `{ lengths: ${literal(lengths)}, parts: ${list(parts)} }`;

const list = (texts: readonly string[]): string => `[${texts.map(literal).join(', ')}]`;

const literal = (text: string): string =>
  JSON.stringify(text.replace(/[^ -~]/g, (letter) => `{${letter.charCodeAt(0).toString(16)}}`));

const module = (lines: readonly string[]): string =>
  `// Generated by scripts/generate-fiscal-data.ts from data/; not edited by hand.\n// Contains data of Ministero dell'Interno - ANPR (CC BY 4.0), ISTAT (CC BY 3.0 IT) and GeoNames (CC BY 4.0), modified; see NOTICE.\n${lines.join('\n')}\n`;

if (import.meta.main) {
  for (const [name, text] of generateFiscalData()) {
    const target = new URL(`src/fiscal/data/${name}`, root);
    if (!process.argv.includes('--check')) writeFileSync(target, text);
    else if (readFileSync(target, 'utf8') !== text) {
      throw new Error(`src/fiscal/data/${name} is out of date: run node scripts/generate-fiscal-data.ts`);
    }
  }
}
