import type { MatchResponse } from '../contract/fiscal-codes.ts';
import {
  MAX_TEXT_LENGTH,
  type ParsedPerson,
  type PersonFieldError,
  parseKnownPerson,
  parsePerson,
  personErrors,
} from '../contract/parsed-person.ts';
import {
  generate,
  type Language,
  match,
  messages,
  type Place,
  regions,
  translateFaults,
} from '../fiscal/index.ts';
import { fieldOfName, type RecordField } from './columns.ts';
import { type DateParts, dateOfText } from './date-text.ts';
import { matchResponse } from './fiscal-responses.ts';
import { PERSON_TEXTS, type PersonTexts } from './person-texts.ts';

/** The options of the fiscal library. */
export type Rules = {
  readonly asOf: string;
  readonly strict: boolean;
  readonly century: number | undefined;
  readonly language: Language;
  /** False when many codes are processed, because suggestions cost as much as a thousand codes. */
  readonly suggest?: false;
};

export type PersonRecord = Partial<Readonly<Record<RecordField, unknown>>>;

export type RecordErrors = Partial<Readonly<Record<RecordField, PersonFieldError>>>;

export type Generated =
  | { readonly ok: true; readonly cf: string; readonly place: Place; readonly warnings: readonly Warning[] }
  | {
      readonly ok: false;
      readonly errors: RecordErrors;
      /** Places that an ambiguous name may mean. */
      readonly candidates: readonly Place[];
      /** Places that an unknown name may mean. */
      readonly suggestions: readonly Place[];
      readonly hint: 'other-province' | 'foreign-city' | 'territory' | 'similar' | null;
    };

export type Warning = 'place-not-in-force' | 'place-ended' | 'names-after-comma';

export function generateFrom(record: PersonRecord, rules: Rules): Generated {
  const parsed = parsedAtOnce(record) ?? parsePerson(toWire(record));
  const generated = generate(parsed.person, rules);
  if (generated.ok && isEmpty(parsed.problems)) {
    const { codiceFiscale, birthplace, warnings } = generated;
    return { ok: true, cf: codiceFiscale, place: birthplace, warnings };
  }
  const faults = generated.ok ? [] : translateFaults(generated.faults, rules.language);
  const named = personErrors(parsed, faults, { today: rules.asOf, language: rules.language });
  const errors = toErrors(record, named, rules);
  const {
    candidates = [],
    suggestions = [],
    hint = null,
  } = faults.find(({ field }) => field === 'birthplace') ?? {};
  return { ok: false, errors, candidates, suggestions, hint };
}

export type Matched =
  | { readonly ok: true; readonly response: MatchResponse }
  | { readonly ok: false; readonly errors: RecordErrors };

/** Checks whether the record's code belongs to its person, as far as the record has data of the person. */
export function matchFrom(record: PersonRecord, rules: Rules): Matched {
  const parsed = parsedAtOnce(record) ?? parseKnownPerson(toWire(record));
  const code = typeof record.cf === 'string' ? record.cf.trim() : '';
  const matched = match(code, parsed.person, rules);
  if (matched.ok && isEmpty(parsed.problems)) return { ok: true, response: matchResponse(matched) };
  const faults = matched.ok ? [] : translateFaults(matched.faults, rules.language);
  const named = personErrors(parsed, faults, { today: rules.asOf, language: rules.language });
  const [codeFault] = matched.ok ? [] : (matched.code?.faults ?? []);
  const ofCode =
    codeFault === undefined
      ? {}
      : { cf: { reason: codeFault.reason, message: messages[rules.language].codeFault(codeFault) } };
  return { ok: false, errors: { ...ofCode, ...toErrors(record, named, rules) } };
}

export function recordOfJson(value: unknown): PersonRecord | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = Object.entries(value).map(([name, member]) => [fieldOfName(name), member] as const);
  return Object.fromEntries(members.filter(([field]) => field !== undefined));
}

/** Returns the name of a place with what distinguishes it from places of the same name. */
export function placeLabel({ name, province, codiceCatastale, validTo }: Place, language: Language): string {
  const end = validTo === null ? '' : `, ${PERSON_TEXTS[language].until} ${validTo.slice(0, 4)}`;
  return `${name} (${province}) ${codiceCatastale}${end}`;
}

/** Returns whether the text comes from bytes that are not UTF-8: decoders replace them by U+FFFD. */
function isGarbled(text: unknown): boolean {
  return typeof text === 'string' && text.includes('\ufffd');
}

function isEmpty(problems: object): boolean {
  for (const _ in problems) return false;
  return true;
}

const NO_PROBLEMS: ParsedPerson['problems'] = Object.freeze({});

/**
 * Parses a record of plain texts, as nearly all rows are, without converting it to the fields of the API first; undefined
 * for any other record.
 */
function parsedAtOnce(record: PersonRecord): ParsedPerson | undefined {
  const { name, surname, gender, city, province = '', date } = record;
  if (typeof date !== 'string' || !isSex(gender) || !isShort(province)) return undefined;
  if (!isFilled(name) || !isFilled(surname) || !isFilled(city)) return undefined;
  if ((record.noName ?? '') !== '' || (record.noSurname ?? '') !== '') return undefined;
  const birthDate = dateOfText(date);
  if (birthDate === undefined || !isDate(birthDate)) return undefined;
  const person = {
    surname,
    givenName: name,
    sex: gender,
    birthDate,
    birthplace: city,
    province: provinceOfText(province),
  };
  return { person, problems: NO_PROBLEMS };
}

function isSex(value: unknown): value is 'F' | 'M' {
  return value === 'F' || value === 'M';
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH;
}

function isFilled(value: unknown): value is string {
  return isShort(value) && value.trim() !== '';
}

/** Returns whether the parts have the form of a date of the API. The library checks whether the month has the day. */
function isDate({ day, month, year }: DateParts): boolean {
  return day >= 1 && day <= 31 && month >= 1 && month <= 12 && year >= 1000;
}

function toWire({ date, cf: _, state, ...rest }: PersonRecord): Readonly<Record<string, unknown>> {
  return {
    ...rest,
    ...(rest.gender === undefined ? {} : { gender: toGender(rest.gender) }),
    ...(typeof rest.province === 'string' ? { province: provinceOfText(rest.province) } : {}),
    ...(rest.noSurname === undefined ? {} : { noSurname: toYes(rest.noSurname) }),
    ...(rest.noName === undefined ? {} : { noName: toYes(rest.noName) }),
    ...(isBlank(rest.city) && state !== undefined ? { city: state } : {}),
    ...(date === undefined ? {} : ((typeof date === 'string' ? dateOfText(date) : undefined) ?? NO_DATE)),
  };
}

const NO_DATE = { day: '', month: '', year: '' };

function isBlank(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '');
}

/** Converts the gender, which cells also have as a word. */
function toGender(value: unknown): unknown {
  if (typeof value !== 'string' || value.length === 1) return value;
  const word = value.trim().toLowerCase();
  if (['femmina', 'femminile', 'donna', 'female'].includes(word)) return 'F';
  if (['maschio', 'maschile', 'uomo', 'male'].includes(word)) return 'M';
  return word.length === 1 ? word : value;
}

/** Converts yes, which cells have in many forms. */
function toYes(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return /^(?:x|1|s[iì]?|y|yes|true|vero)$/i.test(value.trim()) || (isNo(value.trim()) ? false : value);
}

function isNo(text: string): boolean {
  return text === '' || /^(?:0|n|no|false|falso)$/i.test(text);
}

/** Assigns errors of day, month or year to the date that they came from. Reports text with invalid characters as such. */
function toErrors(record: PersonRecord, named: RecordErrors, { language }: Rules): RecordErrors {
  const texts = PERSON_TEXTS[language];
  const filled = withAbsence(named, texts);
  const { day, month, year, ...rest } = filled;
  const fault = year ?? month ?? day;
  const errors =
    record.date === undefined || fault === undefined
      ? filled
      : { ...rest, date: dateError(record.date, fault, texts) };
  const garbled = (['name', 'surname', 'city'] as const).filter(
    (field) => errors[field] !== undefined && isGarbled(record[field]),
  );
  return {
    ...errors,
    ...Object.fromEntries(
      garbled.map((field) => [
        field,
        { reason: 'garbled', message: texts.garbled(texts.fields[field] ?? field) },
      ]),
    ),
  };
}

/** Adds to the error of a missing name how to state that the person has none. */
function withAbsence(errors: RecordErrors, texts: PersonTexts): RecordErrors {
  const { name, surname } = errors;
  return {
    ...errors,
    ...(name?.reason === 'missing' ? { name: { ...name, message: texts.nameMissing } } : {}),
    ...(surname?.reason === 'missing' ? { surname: { ...surname, message: texts.surnameMissing } } : {}),
  };
}

type DateTexts = { readonly dateMissing: string; readonly dateFormat: string };

function dateError(date: unknown, fault: PersonFieldError, texts: DateTexts): PersonFieldError {
  if (isBlank(date)) return { reason: 'missing', message: texts.dateMissing };
  const isRead = typeof date === 'string' && dateOfText(date) !== undefined;
  return isRead ? fault : { reason: 'unknown', message: texts.dateFormat };
}

/** The abbreviation of a province as people write it: `RM`, `(RM)`, `Roma`, `Estero`. Anything else stays as it is. */
function provinceOfText(text: string): string {
  if (text.length <= 2) return text;
  const bare = text.replace(/[().]/g, '').trim();
  if (bare.length <= 2) return bare;
  abbreviations ??= readAbbreviations();
  return abbreviations.get(foldLetters(bare)) ?? text;
}

let abbreviations: ReadonlyMap<string, string> | undefined;

function readAbbreviations(): Map<string, string> {
  const named = regions().flatMap(({ provinces }) =>
    provinces.flatMap(({ name, abbreviation }) =>
      name.split('/').map((part): [string, string] => [foldLetters(part), abbreviation]),
    ),
  );
  return new Map([...named, ['ESTERO', 'EE'], ['STATOESTERO', 'EE']]);
}

function foldLetters(name: string): string {
  return name
    .normalize('NFD')
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .replace(/^PROVINCIADI/, '');
}
