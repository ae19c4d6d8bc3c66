import { nearest } from '../../../contract/nearest.ts';
import type { PlacePeriod } from '../../../contract/places.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import {
  beginningWith,
  type CapsResult,
  caps,
  cities,
  dataSources,
  istatProvince,
  type Language,
  type ListedPlace,
  type Place,
  type PlaceWithHistory,
  provinces,
  type Region,
  regions,
  searchPlaces,
} from '../../../fiscal/index.ts';
import { isInForceOn, istatProvinceResponse, periodResponse } from '../../../people/fiscal-responses.ts';
import { bilingualError, type CliError, EXIT } from '../../errors/cli-error.ts';
import { LANG, translateHeadings } from '../../framework/language.ts';
import {
  argument,
  calendarDay,
  defineCommand,
  flag,
  listArgument,
  ofNoun,
  option,
  wholeNumber,
} from '../../framework/parameters.ts';
import { type Column, list, type Result, record, text } from '../../terminal/result.ts';

const PLACE_FIELDS = [
  'code',
  'belfiore_code',
  'province',
  'name',
  'from',
  'to',
  'current',
] as const satisfies readonly (keyof PlacePeriod)[];

const sources = defineCommand({
  summary: 'Italian regions, provinces, places and postal codes',
  description: 'Offline.',
  needs: 'nothing',
  fields: 'of-response',
  options: {
    sources: flag('--sources', 'show where the data come from, how old they are, and their terms of use'),
    lang: LANG,
  },
  examples: [
    { line: 'rtc it regions', does: 'Regions with their provinces' },
    { line: 'rtc it cities RM', does: 'The places of a province' },
    { line: 'rtc it find san giu', does: 'Places by the beginning of a name' },
    { line: 'rtc it caps RM Roma', does: 'The postal codes of a city' },
    { line: 'rtc it --sources', does: 'Where the data come from' },
  ],
  async run(_context, input) {
    if (!input.sources) {
      throw bilingualError(
        ['missing a verb: regions, provinces, cities, find or caps'],
        ['manca un verbo: regions, provinces, cities, find o caps'],
      );
    }
    return sourcesResult(input.lang);
  },
});

const REGION_COLUMNS: readonly Column<Region>[] = [
  { heading: 'REGION', value: ({ name }) => name, paint: 'name' },
  { heading: 'PROVINCES', value: (region) => region.provinces.map((each) => each.abbreviation).join(' ') },
];

const listRegions = defineCommand({
  verb: 'regions',
  summary: 'List the regions with their provinces',
  needs: 'nothing',
  fields: ['name', 'provinces'],
  options: { lang: LANG },
  examples: [
    { line: 'rtc it regions', does: 'All twenty' },
    { line: 'rtc it regions --json', does: 'The API’s response' },
  ],
  async run(_context, { lang }) {
    const records = regions();
    return list({
      response: records,
      records,
      columns: translateHeadings(REGION_COLUMNS, lang),
      identify: ({ name }) => name,
      empty: '',
    });
  },
});

type ProvinceRow = PlacePeriod & { readonly provinceName: string };

const listProvinces = defineCommand({
  verb: 'provinces',
  summary: 'List the provinces with their capitals',
  needs: 'nothing',
  fields: PLACE_FIELDS,
  options: { lang: LANG },
  examples: [
    { line: 'rtc it provinces', does: 'All present provinces' },
    { line: 'rtc it provinces | cut -f1', does: 'Only the abbreviations' },
  ],
  async run(_context, { lang }) {
    const rows = provinces().map(
      (place): ProvinceRow => ({ ...toPeriod(place), provinceName: place.provinceName }),
    );
    return list<ProvinceRow>({
      response: rows.map(({ provinceName: _, ...place }) => place),
      records: rows,
      columns: translateHeadings<ProvinceRow>(
        [
          { heading: 'PROVINCE', value: ({ province }) => province, paint: 'name' },
          { heading: 'NAME', value: ({ provinceName }) => provinceName },
          { heading: 'CAPITAL', value: ({ name }) => name },
          { heading: 'CODE', value: ({ code }) => code },
        ],
        lang,
      ),
      identify: ({ province }) => province,
      empty: '',
    });
  },
});

const CITY_COLUMNS: readonly Column<PlacePeriod>[] = [
  { heading: 'CODE', value: ({ code }) => code, paint: 'name' },
  { heading: 'NAME', value: ({ name }) => name },
  { heading: 'PROVINCE', value: ({ province }) => province },
  { heading: 'TODAY', value: (place) => place.belfiore_code },
];

/** ISTAT's province of a place, by its code. */
function istatColumn<R>(codeFor: (record: R) => string): Column<R> {
  return { heading: 'ISTAT', value: (record) => istatProvince(codeFor(record))?.abbreviation ?? '' };
}

const DETAILS = flag('--details', "show ISTAT's province too, where it is not that of ANPR (Sardinia)");

const listCities = defineCommand({
  verb: 'cities',
  summary: 'List the places of a province, under all their names, past and present',
  description:
    'Lists former names too, as birth certificates have them: a place has one line for each name. The column TODAY is the Belfiore code of the comune to which its territory belongs now. Former abbreviations of provinces (FO, now FC) work too, and those that only ISTAT has today (OT), whose comuni have the province of ANPR. EE lists the foreign states.',
  needs: 'nothing',
  fields: [...PLACE_FIELDS, 'istatProvince'],
  arguments: { province: argument('abbreviation of the province, such as RM; EE for states') },
  options: {
    current: flag('--current', 'only names that are in use today'),
    date: option('--date <date>', 'only names that were in force on this day, YYYY-MM-DD', calendarDay),
    q: option(
      '--q <text>',
      'only places with a name, in any language, that begins with this; case and accents are ignored',
    ),
    limit: option('--limit <count>', 'maximum number', wholeNumber(1, 10_000)),
    details: DETAILS,
    lang: LANG,
  },
  examples: [
    { line: 'rtc it cities RM', does: 'All places that were ever in the province of Rome' },
    { line: 'rtc it cities RM --current', does: 'Those of today' },
    {
      line: 'rtc it cities VE --date 1920-01-01 --q me',
      does: 'Those of one day whose name begins with me',
    },
    { line: 'rtc it cities EE --current', does: 'The foreign states of today' },
  ],
  async run(_context, { province, limit, details, lang, q, ...filter }) {
    const all = cities(province);
    if (all.length === 0) throw unknownProvince(province);
    const records = all
      .filter((place) => isListed(place, filter))
      .filter(beginningWith(q ?? ''))
      .slice(0, limit)
      .map((place) => (details ? { ...toPeriod(place), ...readIstat(place) } : toPeriod(place)));
    return list({
      response: records,
      records,
      columns: translateHeadings(
        details ? [...CITY_COLUMNS, istatColumn<PlacePeriod>(({ code }) => code)] : CITY_COLUMNS,
        lang,
      ),
      identify: ({ code, name }) => `${code} ${name}`,
      empty: lang === 'it' ? 'Nessun luogo simile; togliere opzioni.' : 'No such places; leave options out.',
    });
  },
});

type Filter = { current: boolean; date: string | undefined };

function isListed(place: ListedPlace, { current, date }: Filter): boolean {
  return !(current && !place.isCurrent) && (date === undefined || isInForceOn(place, date));
}

const listCaps = defineCommand({
  verb: 'caps',
  summary: 'List the postal codes of a city',
  description: 'For a former comune, lists the codes of the comune to which its territory belongs today.',
  needs: 'nothing',
  arguments: {
    province: argument('abbreviation of the province'),
    city: argument('present or former name of the city, or its Belfiore code'),
  },
  options: { lang: LANG },
  examples: [
    { line: 'rtc it caps RM Roma', does: 'One per line' },
    { line: 'rtc it caps MI Monza', does: 'By a former province: Monza is in MB today' },
    { line: 'rtc it caps RM Roma --json', does: 'As integers, as in the API: 00118 is 118' },
  ],
  async run(_context, { province, city }) {
    const found = caps(province, city);
    if (found.ok) return text(found.caps.join('\n'), { response: found.caps.map(Number) });
    throw noCaps(found, province, city);
  },
});

function sourcesResult(language: Language | undefined): Result {
  const response = dataSources();
  const columns: readonly Column<typeof response>[] = [
    { heading: 'VERSION', value: ({ version }) => version },
    { heading: 'FINGERPRINT', value: ({ fingerprint }) => fingerprint },
    { heading: 'NOTICE', value: ({ notice }) => notice },
    { heading: 'POSTAL CODES', value: ({ capsNotice }) => capsNotice },
    ...response.sources.map((source, index) => ({
      heading: `${language === 'it' ? 'FONTE' : 'SOURCE'} ${index + 1}`,
      value: () => `${source.name}; ${source.licence}; for ${source.usedFor}`,
    })),
  ];
  return record(response, translateHeadings(columns, language));
}

function toPeriod(place: ListedPlace): PlacePeriod {
  return periodResponse(place, place.codiceCatastaleToday);
}

function readIstat({ codiceCatastale }: ListedPlace): Pick<PlacePeriod, 'istatProvince'> {
  return { istatProvince: istatProvinceResponse(istatProvince(codiceCatastale)) };
}

type NoCaps = Exclude<CapsResult, { readonly ok: true }>;

const CODE_IS_CLEAR = 'one of these may be meant; a Belfiore code is always clear';
const CODE_IS_CLEAR_IN_ITALIAN = 'forse uno di questi; un codice catastale (Belfiore) non è mai ambiguo';

function noCaps(found: NoCaps, province: string, city: string): CliError {
  const list = `rtc it cities ${shellQuote(province)}`;
  const [there, thereInItalian] = [`list them: ${list}`, `l'elenco: ${list}`];
  const named = JSON.stringify(city);
  switch (found.reason) {
    case 'province':
      return unknownProvince(province);
    case 'ambiguous':
      return bilingualError(
        [`several places of ${province} are called ${named}`, CODE_IS_CLEAR],
        [`più luoghi di ${province} si chiamano ${named}`, CODE_IS_CLEAR_IN_ITALIAN],
        { details: found.candidates.map(placeLine) },
      );
    case 'no-caps':
      return bilingualError(
        [`no postal codes are known of ${named}`, there],
        [`di ${named} non si conoscono codici di avviamento postale`, thereInItalian],
        { exitCode: EXIT.notFound },
      );
    default: {
      const suggestions: readonly NamedPlace[] =
        found.suggestions.length > 0 ? found.suggestions : similarPlaces(province, city);
      const isNear = suggestions.length > 0;
      return bilingualError(
        [`no place of ${province} is called ${named}`, isNear ? CODE_IS_CLEAR : there],
        [
          `nessun luogo di ${province} si chiama ${named}`,
          isNear ? CODE_IS_CLEAR_IN_ITALIAN : thereInItalian,
        ],
        { exitCode: EXIT.notFound, details: suggestions.map(placeLine) },
      );
    }
  }
}

type NamedPlace = Pick<Place, 'name' | 'province' | 'codiceCatastale'>;

function placeLine({ name, province, codiceCatastale }: NamedPlace): string {
  return `${name} (${province}) ${codiceCatastale}`;
}

/** The library suggests nothing for short names, because many are similar; a single province has few names. */
function similarPlaces(province: string, city: string): readonly NamedPlace[] {
  const all = cities(province);
  const names = all.map(({ name }) => name);
  const near = nearest(city, names);
  return all.filter(({ name }) => name === near).slice(0, 1);
}

const FOUND_COLUMNS: readonly Column<PlaceWithHistory>[] = [
  { heading: 'CODE', value: ({ place }) => place.codiceCatastale, paint: 'name' },
  { heading: 'NAME', value: ({ place }) => place.name },
  { heading: 'PROVINCE', value: ({ place }) => place.province },
  { heading: 'FROM', value: ({ place }) => place.validFrom ?? '' },
  { heading: 'TO', value: ({ place }) => place.validTo ?? '' },
  { heading: 'TODAY', value: ({ successors }) => successors.at(-1)?.name ?? '' },
  { heading: 'OTHER-NAMES', value: ({ place, history }) => otherNames(place, history).join(', ') },
];

/** Only for a postal code that some of the places have for a few frazioni. */
const FRAZIONI_COLUMN: Column<PlaceWithHistory> = {
  heading: 'FRAZIONI',
  value: ({ frazioni }) => frazioni.join(', '),
};

export const findPlaces = defineCommand({
  verb: 'find',
  summary: 'Find places by the beginning of a name, with their history',
  description:
    'Finds names that begin with the words, then names that contain such a word, then similar names. Existing places and those with more residents come first. TODAY is the successor of a place that no longer exists.',
  needs: 'nothing',
  fields: ['place', 'history', 'successors', 'frazioni', 'istatProvince'],
  arguments: { words: listArgument('part of the name, a Belfiore code, or a postal code') },
  options: {
    province: option('--province <XX>', 'only places that were ever in this province; EE for states'),
    date: option('--date <date>', 'places in force on this day first, YYYY-MM-DD', calendarDay),
    limit: option('--limit <count>', 'maximum number; default 10', wholeNumber(1, 100)),
    details: DETAILS,
    lang: LANG,
  },
  examples: [
    { line: 'rtc it find san giu', does: 'San Giuliano Milanese comes first' },
    { line: 'rtc it find mestre --json', does: 'Its names over time, and its successor' },
    { line: 'rtc it find F159', does: 'A Belfiore code' },
    { line: 'rtc it find 58018', does: 'A postal code, with the frazioni that have it' },
  ],
  async run(_context, { words, province, date, limit, details, lang }) {
    if (province !== undefined && cities(province).length === 0) throw unknownProvince(province);
    const found = searchPlaces(words.join(' '), { province, date, limit });
    const records = details
      ? found.map((each) => ({ ...each, istatProvince: istatProvince(each.place.codiceCatastale) }))
      : found;
    return list<PlaceWithHistory>({
      response: records,
      records,
      columns: translateHeadings(
        [
          ...FOUND_COLUMNS,
          ...(found.some(({ frazioni }) => frazioni.length > 0) ? [FRAZIONI_COLUMN] : []),
          ...(details ? [istatColumn<PlaceWithHistory>(({ place }) => place.codiceCatastale)] : []),
        ],
        lang,
      ),
      identify: ({ place }) => place.codiceCatastale,
      empty: lang === 'it' ? 'Nessun luogo ha un nome simile.' : 'No place has such a name.',
    });
  },
});

function otherNames(place: Place, history: readonly Place[]): readonly string[] {
  return [...new Set(history.map(({ name }) => name))].filter((name) => name !== place.name);
}

export function unknownProvince(province: string): CliError {
  return bilingualError(
    [`no province has the abbreviation ${JSON.stringify(province)}`, 'list them: rtc it provinces'],
    [`nessuna provincia ha la sigla ${JSON.stringify(province)}`, "l'elenco: rtc it provinces"],
    { exitCode: EXIT.notFound },
  );
}

export const commands = ofNoun('it', [sources, listRegions, listProvinces, listCities, findPlaces, listCaps]);
