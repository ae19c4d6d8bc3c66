/*
 * A person as the wire names its fields, read into what the fiscal library takes. Apart from the schemas, since the
 * command line reads persons without loading TypeBox.
 */

export const PERSON_FIELDS = [
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

/** No name has more; and anybody may send one, whose letters then cost the service seconds where there are a million. */
export const MAX_TEXT_LENGTH = 256;

/** What is wrong with each bad field; holds nothing of the person. */
export type PersonFieldErrors = Partial<Record<PersonField, string>>;

/** As the library names it. What is missing or malformed is empty, and has its error beside it. */
export type ReadPerson = {
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

/** A fault as the library tells it. */
type LibraryFault = {
  readonly field: 'surname' | 'givenName' | 'sex' | 'birthDate' | 'birthplace' | 'province';
  readonly reason: string;
  readonly message: string;
};

export type PersonReading = {
  readonly person: ReadPerson;
  readonly errors: PersonFieldErrors;
};

/** Day, month and year may be numbers or their digits; the gender of either case. Unknown fields are ignored. */
export function readPerson(wire: Readonly<Record<string, unknown>>): PersonReading {
  const errors: PersonFieldErrors = {};
  const text = (field: PersonField): string => {
    const value = wire[field] ?? '';
    if (typeof value !== 'string') errors[field] = `the ${field} must be text`;
    else if (value.length <= MAX_TEXT_LENGTH) return value;
    else errors[field] = `the ${field} must have at most ${MAX_TEXT_LENGTH} characters`;
    return '';
  };
  const flag = (field: PersonField): boolean => {
    const value = wire[field] ?? false;
    if (typeof value !== 'boolean') errors[field] = `${field} must be true or false`;
    return value === true;
  };
  const number = (field: PersonField, least: number, most: number): number => {
    const value = wire[field] ?? '';
    const digits = typeof value === 'number' ? String(value) : value;
    const read = typeof digits === 'string' && /^\d{1,4}$/.test(digits) ? Number(digits) : Number.NaN;
    if (digits === '') errors[field] = `the ${field} is missing`;
    else if (Number.isNaN(read)) errors[field] = `the ${field} must be a whole number, or its digits`;
    else if (read < least || read > most) errors[field] = `the ${field} must be ${least} to ${most}`;
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
  return { person, errors };
}

/** The library's faults under the wire's names; what {@link readPerson} found goes before. */
export function nameFaults(
  reading: PersonReading,
  faults: readonly LibraryFault[],
  today: string,
): PersonFieldErrors {
  const named: PersonFieldErrors = {};
  for (const fault of faults) {
    // The wire's word for the field, in the message too.
    if (fault.field === 'sex') named.gender ??= fault.message.replace(/\bsex\b/, 'gender');
    else if (fault.field !== 'birthDate') named[FIELD_OF[fault.field]] ??= fault.message;
    else if (!hasDateError(reading.errors))
      named[datePartAtFault(reading.person, fault, today)] = fault.message;
  }
  const errors = { ...named, ...reading.errors };
  const ordered = PERSON_FIELDS.filter((field) => errors[field] !== undefined);
  return Object.fromEntries(ordered.map((field) => [field, errors[field]]));
}

const FIELD_OF: Readonly<Record<Exclude<LibraryFault['field'], 'birthDate' | 'sex'>, PersonField>> = {
  surname: 'surname',
  givenName: 'name',
  birthplace: 'city',
  province: 'province',
};

function hasDateError({ day, month, year }: PersonFieldErrors): boolean {
  return day !== undefined || month !== undefined || year !== undefined;
}

/** The largest part that makes a date to come; the day of one that its month does not have. */
function datePartAtFault({ birthDate }: ReadPerson, { reason }: LibraryFault, today: string): PersonField {
  if (reason === 'too-early') return 'year';
  if (reason !== 'future') return 'day';
  const [year = 0, month = 0] = today.split('-').map(Number);
  if (birthDate.year > year) return 'year';
  return birthDate.month > month ? 'month' : 'day';
}
