import type { PersonField } from '../contract/parsed-person.ts';

/** The fields of the API; `date` for day, month and year in one; `state` for births abroad, for which the city is empty. */
export type RecordField = PersonField | 'date' | 'cf' | 'state';

/** The fields of a row by their column, and the names that may be absent. */
export type Columns = {
  /** Index of the column of each field. */
  readonly indexOf: ReadonlyMap<RecordField, number>;
  /** Names whose column header says that a person may have none: an empty cell then means that the person has none. */
  readonly mayBeAbsent: ReadonlySet<'name' | 'surname'>;
};

/**
 * Finds the columns that the names of a first row mean. When several mean one field (`Comune`, `Comune di nascita`), the
 * more specific name is taken.
 */
export function findColumns(names: readonly string[]): Columns {
  const indexOf = new Map<RecordField, number>();
  const ranks = new Map<RecordField, number>();
  const mayBeAbsent = new Set<'name' | 'surname'>();
  names.forEach((name, index) => {
    const bare = name.replace(IF_ANY, '');
    const meaning = MEANING_OF_NAME.get(folded(bare));
    if (meaning === undefined || meaning.rank >= (ranks.get(meaning.field) ?? Number.POSITIVE_INFINITY))
      return;
    indexOf.set(meaning.field, index);
    ranks.set(meaning.field, meaning.rank);
    if (meaning.field !== 'name' && meaning.field !== 'surname') return;
    if (bare === name) mayBeAbsent.delete(meaning.field);
    else mayBeAbsent.add(meaning.field);
  });
  // A province without a birthplace belongs to an address.
  if (!indexOf.has('city') && !indexOf.has('state')) indexOf.delete('province');
  return { indexOf, mayBeAbsent };
}

/** Returns the field of a JSON member of this name; undefined for a member that is not read. */
export function fieldOfName(name: string): RecordField | undefined {
  return MEANING_OF_NAME.get(folded(name))?.field;
}

/** Returns the required fields without a column. */
export function missingFields({ indexOf }: Columns): readonly string[] {
  const missing: string[] = (['name', 'surname', 'gender'] as const).filter((field) => !indexOf.has(field));
  const hasDate = indexOf.has('date') || (indexOf.has('day') && indexOf.has('month') && indexOf.has('year'));
  return [
    ...missing,
    ...(indexOf.has('city') || indexOf.has('state') ? [] : ['city']),
    ...(hasDate ? [] : ['birthday']),
  ];
}

/** Returns what a table lacks to compare codes with people: the column of codes, or any column of a person. */
export function missingForMatch(columns: Columns): readonly string[] {
  const { indexOf } = columns;
  const isAnyGiven = [...indexOf.keys()].some((field) => field !== 'cf');
  return [...(indexOf.has('cf') ? [] : ['cf']), ...(isAnyGiven ? [] : missingFields(columns))];
}

/** Normalises the name of a column: case, spaces, accents and punctuation are ignored. */
export function folded(name: string): string {
  return name
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** Matches `Nome (se presente)`: the header says that an empty cell means a person without one. */
const IF_ANY =
  /[\s(,;-]*(?:se presente|se esiste|se c'è|se ce l'ha|vuoto se assente|può mancare|facoltativo|if any|may be empty|optional)\)?\s*$/i;

/**
 * Names of columns in English and Italian, as registries and spreadsheets write them. The most specific names come first.
 */
const NAMES: Readonly<Record<RecordField, readonly string[]>> = {
  name: ['given name', 'first name', 'nome di battesimo', 'name', 'nome', 'nomi'],
  surname: ['surname', 'last name', 'family name', 'cognome di nascita', 'cognome', 'cognomi'],
  gender: ['gender', 'sex', 'sesso', 'genere', 'sesso m f', 'sesso f m', 'm f', 'f m'],
  day: ['day of birth', 'giorno di nascita', 'giorno nascita', 'day', 'giorno', 'gg'],
  month: ['month of birth', 'mese di nascita', 'mese nascita', 'month', 'mese', 'mm'],
  year: ['year of birth', 'anno di nascita', 'anno nascita', 'year', 'anno', 'aaaa'],
  date: [
    'date of birth',
    'birth date',
    'birthday',
    'data di nascita',
    'data nascita',
    'data nasc',
    'dt nascita',
    'nato il',
    'nata il',
    'nato a il',
    'date',
    'data',
  ],
  city: [
    'birthplace',
    'place of birth',
    'comune o stato estero di nascita',
    'comune o stato di nascita',
    'comune di nascita',
    'comune nascita',
    'luogo di nascita',
    'luogo nascita',
    'città di nascita',
    'nato a',
    'nata a',
    'city',
    'comune',
    'città',
  ],
  state: [
    'stato estero di nascita',
    'stato di nascita',
    'nazione di nascita',
    'paese di nascita',
    'stato nascita',
    'nazione nascita',
    'country of birth',
    'stato estero',
  ],
  province: [
    'birthplace provincia',
    'provincia di nascita',
    'provincia nascita',
    'prov di nascita',
    'prov nascita',
    'prov nasc',
    'pr nascita',
    'province',
    'provincia',
    'prov',
    'pr',
    'sigla provincia',
  ],
  cf: ['codice fiscale', 'cod fiscale', 'codfiscale', 'cf', 'c f', 'fiscal code', 'tax code'],
  noSurname: ['no surname', 'senza cognome'],
  noName: ['no name', 'no given name', 'senza nome'],
};

type Meaning = { readonly field: RecordField; readonly rank: number };

const MEANING_OF_NAME: ReadonlyMap<string, Meaning> = new Map(
  recordFields().flatMap((field) =>
    NAMES[field].map((name, rank): [string, Meaning] => [folded(name), { field, rank }]),
  ),
);

function recordFields(): readonly RecordField[] {
  return Object.keys(NAMES) as RecordField[];
}

/** Creates a function that reads the rows of a table as persons. */
export function createRowReader({ indexOf, mayBeAbsent }: Columns): (cells: readonly string[]) => RowRecord {
  const fields = [...indexOf];
  return (cells) => {
    const record: RowRecord = {};
    for (const [field, index] of fields) record[field] = cells[index] ?? '';
    if (mayBeAbsent.has('name') && isBlank(record.name)) record.noName = true;
    if (mayBeAbsent.has('surname') && isBlank(record.surname)) record.noSurname = true;
    return record;
  };
}

type RowRecord = { [Field in RecordField]?: unknown };

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}
