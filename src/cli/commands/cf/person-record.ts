import { matchAnswer } from '../../../contract/fiscal-answers.ts';
import type { MatchAnswer } from '../../../contract/fiscal-codes.ts';
import { nameFaults, type PersonField, readPerson } from '../../../contract/person-reading.ts';
import { generate, match, type Place } from '../../../fiscal/index.ts';
import { folded } from './csv-rows.ts';
import type { Rules } from './rules.ts';

/** The fields of the API, and `date` for day, month and year in one. */
export type RecordField = PersonField | 'date' | 'cf';
export type PersonRecord = Partial<Readonly<Record<RecordField, unknown>>>;

export type Generated =
  | { readonly ok: true; readonly cf: string; readonly place: Place; readonly warnings: readonly string[] }
  | {
      readonly ok: false;
      readonly errors: Readonly<Partial<Record<RecordField, string>>>;
      /** Places that an ambiguous name means. */
      readonly candidates: readonly Place[];
      /** Places that an unknown name may mean. */
      readonly suggestions: readonly Place[];
    };

export function generateFrom(record: PersonRecord, rules: Rules): Generated {
  const reading = readPerson(wireOf(record));
  const generated = generate(reading.person, rules);
  const faults = generated.ok ? [] : generated.faults;
  const errors = errorsOf(record, nameFaults(reading, faults, rules.asOf));
  if (generated.ok && Object.keys(errors).length === 0) {
    return {
      ok: true,
      cf: generated.codiceFiscale,
      place: generated.birthplace,
      warnings: generated.warnings,
    };
  }
  const { candidates = [], suggestions = [] } = faults.find(({ field }) => field === 'birthplace') ?? {};
  return { ok: false, errors: { ...errors, ...encodingErrors(errors, record) }, candidates, suggestions };
}

export type Matched =
  | { readonly ok: true; readonly answer: MatchAnswer }
  | { readonly ok: false; readonly errors: Readonly<Partial<Record<RecordField, string>>> };

/** Whether the record's code is that of its person. */
export function matchFrom(record: PersonRecord, rules: Rules): Matched {
  const reading = readPerson(wireOf(record));
  const code = typeof record.cf === 'string' ? record.cf : '';
  const matched = match(code, reading.person, rules);
  const faults = matched.ok ? [] : matched.faults;
  const named = errorsOf(record, nameFaults(reading, faults, rules.asOf));
  const codeError = matched.ok ? undefined : matched.code?.message;
  const errors = codeError === undefined ? named : { cf: codeError, ...named };
  if (matched.ok && Object.keys(errors).length === 0) return { ok: true, answer: matchAnswer(matched) };
  return { ok: false, errors: { ...errors, ...encodingErrors(errors, record) } };
}

function wireOf({ date, cf: _, ...rest }: PersonRecord): Readonly<Record<string, unknown>> {
  const flags = { noSurname: yesOf(rest.noSurname), noName: yesOf(rest.noName) };
  return { ...rest, ...flags, ...(date === undefined ? {} : datePartsOf(date)) };
}

/** In a cell, yes is written in many ways. */
function yesOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return /^(?:x|1|s[i\u00ec]?|y|yes|true|vero)$/i.test(value.trim()) || (value.trim() === '' ? false : value);
}

function errorsOf(
  { date }: PersonRecord,
  named: Readonly<Partial<Record<PersonField, string>>>,
): Readonly<Partial<Record<RecordField, string>>> {
  return date === undefined ? named : joinDateErrors(named, date);
}

/** Spreadsheets in Italy still write Windows-1252; such a name would only seem to have an odd character. */
function encodingErrors(
  errors: Readonly<Partial<Record<RecordField, string>>>,
  record: PersonRecord,
): Partial<Record<RecordField, string>> {
  const garbled = (['name', 'surname', 'city'] as const).filter(
    (field) => errors[field] !== undefined && isGarbled(String(record[field])),
  );
  return Object.fromEntries(garbled.map((field) => [field, `the ${field} is not UTF-8: ${CONVERT_TO_UTF8}`]));
}

/** Whether the text came from bytes that are no UTF-8: decoders put U+FFFD for them. */
export function isGarbled(text: string): boolean {
  return text.includes('\ufffd');
}

export const CONVERT_TO_UTF8 = 'convert the input, for instance with iconv -f WINDOWS-1252 -t UTF-8';

/** The field that a column or JSON member of this name holds; undefined for one that is not read. */
export function fieldOfName(name: string): RecordField | undefined {
  return FIELD_OF_NAME.get(folded(name));
}

/** Those of the five that a person cannot do without. */
export function missingFields(fields: ReadonlySet<RecordField | undefined>): readonly string[] {
  const missing: string[] = (['name', 'surname', 'gender', 'city'] as const).filter(
    (field) => !fields.has(field),
  );
  const hasDate = fields.has('date') || (fields.has('day') && fields.has('month') && fields.has('year'));
  return hasDate ? missing : [...missing, 'birthday'];
}

export function recordOfJson(value: unknown): PersonRecord | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = Object.entries(value).map(([name, member]) => [fieldOfName(name), member] as const);
  return Object.fromEntries(members.filter(([field]) => field !== undefined));
}

/** A place as people tell it from its namesakes. */
export function placeLabel({ name, province, codiceCatastale, validTo }: Place): string {
  const end = validTo === null ? '' : `, until ${validTo.slice(0, 4)}`;
  return `${name} (${province}) ${codiceCatastale}${end}`;
}

/** In English and Italian, as registries and spreadsheets call them. */
const NAMES: Readonly<Record<RecordField, readonly string[]>> = {
  name: ['name', 'given name', 'first name', 'nome', 'nomi'],
  surname: ['surname', 'last name', 'family name', 'cognome'],
  gender: ['gender', 'sex', 'sesso', 'genere'],
  day: ['day', 'giorno'],
  month: ['month', 'mese'],
  year: ['year', 'anno'],
  date: ['birthday', 'birth date', 'date', 'date of birth', 'data nascita', 'data di nascita', 'nato il'],
  city: [
    'city',
    'birthplace',
    'comune',
    'comune nascita',
    'comune di nascita',
    'luogo nascita',
    'luogo di nascita',
    'città',
  ],
  province: [
    'province',
    'birthplace provincia',
    'provincia',
    'provincia nascita',
    'provincia di nascita',
    'prov',
  ],
  cf: ['cf', 'codice fiscale', 'fiscal code', 'tax code'],
  noSurname: ['no surname', 'senza cognome'],
  noName: ['no name', 'no given name', 'senza nome'],
};

const FIELD_OF_NAME: ReadonlyMap<string, RecordField> = new Map(
  Object.entries(NAMES).flatMap(([field, names]) =>
    names.map((name): [string, RecordField] => [folded(name), field as RecordField]),
  ),
);

type DateParts = { readonly day: string; readonly month: string; readonly year: string };

/** `1980-02-01`, or `01/02/1980`: the day comes first, as everywhere in Italy. */
function datePartsOf(date: unknown): DateParts {
  const text = typeof date === 'string' ? date.trim() : '';
  const iso = /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)$/.exec(text);
  const found = iso ?? /^(?<day>\d\d?)\/(?<month>\d\d?)\/(?<year>\d{4})$/.exec(text);
  const { day = '', month = '', year = '' } = found?.groups ?? {};
  return { day, month, year };
}

/** What is wrong with day, month or year is wrong with the date that they came from. */
function joinDateErrors(
  errors: Readonly<Partial<Record<PersonField, string>>>,
  date: unknown,
): Readonly<Partial<Record<RecordField, string>>> {
  const { day, month, year, ...rest } = errors;
  const fault = year ?? month ?? day;
  if (fault === undefined) return rest;
  const isUnread = datePartsOf(date).day === '';
  const message = isUnread ? 'the birth date must be YYYY-MM-DD or DD/MM/YYYY' : fault;
  return { ...rest, date: date === '' ? 'the birth date is missing' : message };
}
