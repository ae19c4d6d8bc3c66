/*
 * Parses a person with the field names of the API into the input of the fiscal library. This file is separate from the
 * schemas, because the command line parses persons without loading TypeBox.
 */

/** In the order in which errors are reported. */
const PERSON_FIELDS = [
  'name',
  'surname',
  'gender',
  'day',
  'month',
  'year',
  'city',
  'province',
  'noSurname',
  'noName',
] as const;

export type PersonField = (typeof PERSON_FIELDS)[number];

/** Returns the names of members that are no fields of a person. */
export function unknownFields(wire: Readonly<Record<string, unknown>>): readonly string[] {
  const known: readonly string[] = PERSON_FIELDS;
  return Object.keys(wire).filter((name) => !known.includes(name));
}

/** No name is longer. Without the limit a text of a million letters would cost the service seconds. */
export const MAX_TEXT_LENGTH = 256;

export type PersonFieldError = {
  /** The library's reason code, or the kind of the problem. */
  readonly reason: string;
  /** For people; contains no data of the person. */
  readonly message: string;
};

/** The error of each invalid field. */
type PersonFieldErrors = Partial<Readonly<Record<PersonField, PersonFieldError>>>;

/**
 * The person with the field names of the library. A missing or malformed field is empty, and its problem is reported
 * separately.
 */
type LibraryPerson = {
  readonly surname: string;
  readonly givenName: string;
  readonly sex: 'F' | 'M';
  readonly birthDate: BirthDate;
  readonly birthplace: string;
  readonly province: string;
  readonly noSurname?: true;
  readonly noName?: true;
};

type BirthDate = { readonly year: number; readonly month: number; readonly day: number };

/** An error of the library, in the language of the response. */
type LibraryFault = {
  readonly field: 'surname' | 'givenName' | 'sex' | 'birthDate' | 'birthplace' | 'province';
  readonly reason: string;
  readonly message: string;
};

/** The person's data that are given. */
export type KnownLibraryPerson = Partial<LibraryPerson>;

export type ParsedPerson<Fields extends KnownLibraryPerson = LibraryPerson> = {
  readonly person: Fields;
  readonly problems: Partial<Readonly<Record<PersonField, FieldProblem>>>;
};

/**
 * Parses the fields. Day, month and year may be numbers or their digits; the gender may have either case. Unknown fields are
 * ignored.
 */
export function parsePerson(wire: Readonly<Record<string, unknown>>): ParsedPerson {
  const problems: Partial<Record<PersonField, FieldProblem>> = {};
  const text = (field: PersonField): string => {
    const value = wire[field] ?? '';
    if (typeof value !== 'string') problems[field] = { kind: 'not-text' };
    else if (value.length <= MAX_TEXT_LENGTH) return value;
    else problems[field] = { kind: 'too-long', most: MAX_TEXT_LENGTH };
    return '';
  };
  const flag = (field: PersonField): boolean => {
    const value = wire[field] ?? false;
    if (typeof value !== 'boolean') problems[field] = { kind: 'not-boolean' };
    return value === true;
  };
  const number = (field: PersonField, least: number, most: number): number => {
    const value = wire[field] ?? '';
    const digits = typeof value === 'number' ? String(value) : value;
    const read = typeof digits === 'string' && /^\d{1,4}$/.test(digits) ? Number(digits) : Number.NaN;
    if (digits === '') problems[field] = { kind: 'missing' };
    else if (Number.isNaN(read)) problems[field] = { kind: 'not-number' };
    else if (read < least || read > most) problems[field] = { kind: 'out-of-range', least, most };
    return read;
  };
  const person = {
    givenName: text('name'),
    surname: text('surname'),
    sex: text('gender').toUpperCase() as 'F' | 'M',
    birthDate: { day: number('day', 1, 31), month: number('month', 1, 12), year: number('year', 1000, 9999) },
    birthplace: text('city'),
    province: text('province'),
    ...(flag('noSurname') ? { noSurname: true as const } : {}),
    ...(flag('noName') ? { noName: true as const } : {}),
  };
  return { person, problems };
}

/**
 * Does the same for data that may lack fields: what is absent or null is left out, and is no error unless everything is. The
 * parts of the date belong together, and so do city and province.
 */
export function parseKnownPerson(wire: Readonly<Record<string, unknown>>): ParsedPerson<KnownLibraryPerson> {
  const parsed = parsePerson(wire);
  const isGiven = (field: PersonField): boolean => wire[field] !== undefined && wire[field] !== null;
  if (!PERSON_FIELDS.some(isGiven)) return parsed;
  const { givenName, surname, sex, birthDate, birthplace, province, ...absences } = parsed.person;
  const { day, month, year, ...problems } = parsed.problems;
  const isDateGiven = isGiven('day') || isGiven('month') || isGiven('year');
  const person = {
    ...absences,
    ...(isGiven('name') ? { givenName } : {}),
    ...(isGiven('surname') ? { surname } : {}),
    ...(isGiven('gender') ? { sex } : {}),
    ...(isDateGiven ? { birthDate } : {}),
    ...(isGiven('city') ? { birthplace } : {}),
    ...(isGiven('province') ? { province } : {}),
  };
  return { person, problems: isDateGiven ? parsed.problems : problems };
}

type ErrorOptions = {
  /** ISO date, which decides which part of a future date is wrong. */
  readonly today: string;
  readonly language: 'en' | 'it';
};

/** Returns the library's errors with the field names of the API. Errors of {@link parsePerson} take precedence. */
export function personErrors(
  { person, problems }: ParsedPerson<KnownLibraryPerson>,
  faults: readonly LibraryFault[],
  { today, language }: ErrorOptions,
): PersonFieldErrors {
  const named: Partial<Record<PersonField, PersonFieldError>> = {};
  const hasDateProblem = problems.day ?? problems.month ?? problems.year;
  for (const fault of faults) {
    const { reason, message } = fault;
    // The API's word for the field, in the message too.
    if (fault.field === 'sex') named.gender ??= { reason, message: message.replace(/\bsex\b/, 'gender') };
    else if (fault.field !== 'birthDate') named[FIELD_OF[fault.field]] ??= { reason, message };
    else if (hasDateProblem === undefined) named[datePartAtFault(person, fault, today)] = { reason, message };
  }
  const writeMessage = problemMessages[language];
  const errors: Partial<Record<PersonField, PersonFieldError>> = {};
  for (const field of PERSON_FIELDS) {
    const problem = problems[field];
    const error =
      problem === undefined ? named[field] : { reason: problem.kind, message: writeMessage(field, problem) };
    if (error !== undefined) errors[field] = error;
  }
  return errors;
}

/** Returns only the messages, in the form of the API. */
export function errorMessages(
  errors: Readonly<Record<string, PersonFieldError>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(errors).map(([field, { message }]) => [field, message]));
}

const FIELD_OF: Readonly<Record<Exclude<LibraryFault['field'], 'birthDate' | 'sex'>, PersonField>> = {
  surname: 'surname',
  givenName: 'name',
  birthplace: 'city',
  province: 'province',
};

const NO_DATE: BirthDate = { year: 0, month: 0, day: 0 };

/** Returns the largest part that makes a date a future one, or the day when the month does not have it. */
function datePartAtFault(
  { birthDate = NO_DATE }: KnownLibraryPerson,
  { reason }: LibraryFault,
  today: string,
): 'day' | 'month' | 'year' {
  if (reason === 'too-early') return 'year';
  if (reason !== 'future') return 'day';
  const [year = 0, month = 0] = today.split('-').map(Number);
  if (birthDate.year > year) return 'year';
  return birthDate.month > month ? 'month' : 'day';
}

/** Errors of a field that are found before the fiscal library gets it. */
type FieldProblem =
  | { readonly kind: 'not-text' | 'not-boolean' | 'missing' | 'not-number' }
  | { readonly kind: 'too-long'; readonly most: number }
  | { readonly kind: 'out-of-range'; readonly least: number; readonly most: number };

type ProblemMessage = (field: string, problem: FieldProblem) => string;

/** Messages by language. They contain no data of the person. */
const problemMessages: Readonly<Record<'en' | 'it', ProblemMessage>> = {
  en: (field, problem) => {
    switch (problem.kind) {
      case 'not-text':
        return `the ${field} must be text`;
      case 'not-boolean':
        return `${field} must be true or false`;
      case 'missing':
        return `the ${field} is missing`;
      case 'not-number':
        return `the ${field} must be a whole number, or its digits`;
      case 'too-long':
        return `the ${field} must have at most ${problem.most} characters`;
      case 'out-of-range':
        return `the ${field} must be ${problem.least} to ${problem.most}`;
    }
  },
  it: (field, problem) => {
    const subject = ITALIAN_SUBJECTS[field] ?? field;
    switch (problem.kind) {
      case 'not-text':
        return `${subject} deve essere un testo`;
      case 'not-boolean':
        return `${field} deve essere true o false`;
      case 'missing':
        return `manca ${subject}`;
      case 'not-number':
        return `${subject} deve essere un numero intero, o le sue cifre`;
      case 'too-long':
        return `${subject} deve avere al massimo ${problem.most} caratteri`;
      case 'out-of-range':
        return `${subject} deve essere compreso tra ${problem.least} e ${problem.most}`;
    }
  },
};

const ITALIAN_SUBJECTS: Readonly<Record<string, string>> = {
  name: 'il nome',
  surname: 'il cognome',
  gender: 'il sesso',
  day: 'il giorno di nascita',
  month: 'il mese di nascita',
  year: "l'anno di nascita",
  city: 'il comune o lo stato estero di nascita',
  province: 'la sigla della provincia',
};
