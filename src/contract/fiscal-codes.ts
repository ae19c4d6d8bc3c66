import { type Static, Type } from 'typebox';
import { MAX_TEXT_LENGTH } from './parsed-person.ts';
import { PlacePeriodSchema, PlaceRecordSchema } from './places.ts';
import { closedQuery, named, orNull } from './schema.ts';

/*
 * The wire shapes of /cf. Names are exactly those of the specification. A request body may have further fields, which are
 * ignored; a response has no others than these.
 */

const numberOrDigits = (description: string, example: number) =>
  Type.Union([Type.Integer(), Type.String({ pattern: '^\\d{1,4}$' })], { description, examples: [example] });

export const PersonSchema = named('Person', 'The person of the code', {
  name: Type.String({
    maxLength: MAX_TEXT_LENGTH,
    description: 'First name or names',
    examples: ['Mario'],
  }),
  surname: Type.String({
    maxLength: MAX_TEXT_LENGTH,
    description: 'Last name; for married women the birth name',
    examples: ['Rossi'],
  }),
  gender: Type.Enum(['F', 'M'], { description: 'F female, M male', examples: ['M'] }),
  day: numberOrDigits('Day of birth, DD', 1),
  month: numberOrDigits('Month of birth, MM', 2),
  year: numberOrDigits('Year of birth, YYYY', 1980),
  city: Type.String({
    maxLength: MAX_TEXT_LENGTH,
    description:
      'Birth city in Italy, or the country in Italian for births abroad; case, accents and apostrophes are ignored; former and bilingual names and Belfiore codes are accepted',
    examples: ['Roma'],
  }),
  province: Type.Optional(
    Type.String({
      maxLength: MAX_TEXT_LENGTH,
      description:
        'Former or present abbreviation of the province, EE for births abroad; only needed if the city is ambiguous',
      examples: ['RM'],
    }),
  ),
  noSurname: Type.Optional(
    Type.Boolean({ description: 'The person has no surname: `surname` is empty, and the code has XXX' }),
  ),
  noName: Type.Optional(
    Type.Boolean({ description: 'The person has no given name: `name` is empty, and the code has XXX' }),
  ),
});

export const CodeAndPersonSchema = named(
  'CodeAndPerson',
  'A code, and what is known of the person to whom it may belong. At least one field of the person is given; day, month and year belong together',
  {
    cf: Type.String({ description: 'The fiscal code', examples: ['RSSMRA80B01H501T'] }),
    ...Type.Partial(PersonSchema).properties,
  },
);

const GeneratedDetailsSchema = named('GeneratedCodeDetails', 'With details=true only', {
  birthplace: PlacePeriodSchema,
  why: Type.Enum(['code', 'name', 'alias', 'other-name', 'later', 'ended', 'undated', 'successor'], {
    description:
      'Why this place was chosen: by its Belfiore code; its own name on the date; an alias; its name at another time; it came later; it had ended; its dates are unknown; it is the successor of the given place',
  }),
  warnings: Type.Array(Type.Enum(['place-not-in-force', 'place-ended', 'names-after-comma']), {
    description: 'Warnings about the data',
  }),
  ignored: Type.Array(Type.String(), {
    description: 'The fields of the request that are not those of a person, and were ignored',
  }),
});

export const GeneratedCodeSchema = named('GeneratedCode', 'The code of a person', {
  cf: Type.String({ description: 'The fiscal code, 16 characters', examples: ['RSSMRA80B01H501T'] }),
  details: Type.Optional(GeneratedDetailsSchema),
});

const textOrNumber = (description: string, example: string | number) =>
  Type.Union([Type.String(), Type.Integer()], { description, examples: [example] });

const PartName = Type.Enum(['surname', 'name', 'gender', 'day', 'month', 'year', 'place'], {
  description: 'The compared part',
});

export const MatchSchema = named('Match', 'Whether a code matches what is known of a person, part by part', {
  matches: Type.Boolean({ description: 'Whether all compared parts match' }),
  parts: Type.Array(
    named('MatchPart', 'A part of the code, compared with the data', {
      part: PartName,
      matches: Type.Boolean({ description: 'Whether it matches' }),
      expected: textOrNumber(
        "Computed from the person's data: three letters of a name, F or M, a number of the date, a Belfiore code",
        'RSS',
      ),
      found: textOrNumber('What the code contains', 'RSS'),
    }),
    { description: 'The compared parts, in the order of the code' },
  ),
  skipped: Type.Array(PartName, {
    description: 'The parts that were not compared, because the request has nothing to compare with',
  }),
  compared: Type.Enum(['all', 'names-and-date', 'names', 'some'], {
    description:
      'How much a match proves: everything was compared; both names and the birth date; both names, whose letters many people share; or less',
  }),
});

const CodeWarnings = Type.Array(Type.Enum(['place-not-in-force', 'names-not-derivable']), {
  description: 'Warnings about a valid code',
});

const DecodedDetailsSchema = named('DecodedCodeDetails', 'With details=true only', {
  baseCode: Type.String({ description: 'The code without omocodia', examples: ['RSSMRA80B01H501T'] }),
  omocodiaLevel: Type.Integer({ description: 'Number of digits that are replaced by letters, 0 to 7' }),
  otherBirthday: orNull(
    Type.String({ examples: ['1880-02-01'] }),
    'The birth date by the other reading of the two-digit year',
  ),
  birthplaceCode: Type.String({ description: 'Belfiore code', examples: ['H501'] }),
  birthplaceWasInForce: Type.Boolean({ description: 'Whether the place existed on the birth date' }),
  birthplaceToday: orNull(PlaceRecordSchema, 'The place with its current name, or its successor'),
  warnings: CodeWarnings,
});

export const DecodedCodeSchema = named('DecodedCode', 'What a code means', {
  name: Type.String({ description: 'The three letters of the name', examples: ['MRA'] }),
  surname: Type.String({ description: 'The three letters of the surname', examples: ['RSS'] }),
  gender: Type.Enum(['F', 'M'], { description: 'Sex', examples: ['M'] }),
  day: Type.Integer({ description: 'Day of the birth date', examples: [1] }),
  month: Type.Integer({ description: 'Month of the birth date', examples: [2] }),
  year: Type.Integer({ description: 'Year of the birth date', examples: [1980] }),
  birthday: Type.String({ description: 'YYYY-MM-DD', examples: ['1980-02-01'] }),
  birthplace: Type.String({
    description: 'Place or country, upper case, by its name on the birth date',
    examples: ['ROMA'],
  }),
  birthplaceProvincia: Type.String({
    description: 'Province on the birth date, EE abroad',
    examples: ['RM'],
  }),
  cf: Type.String({ description: 'The code, upper case', examples: ['RSSMRA80B01H501T'] }),
  details: Type.Optional(DecodedDetailsSchema),
});

export const OmocodieSchema = Type.Array(Type.String({ examples: ['RSSMRA80B01H50ML'] }), {
  description:
    'The other 127 forms: the base code first, then counting in binary with the rightmost digit lowest',
});

const CodeFaultSchema = named('CodeFault', 'An error in a code', {
  reason: Type.String({ description: 'Kind of the error', examples: ['check-character'] }),
  start: Type.Integer({ description: 'Index of the first wrong character, from 0', examples: [15] }),
  end: Type.Integer({ description: 'Index after the last one', examples: [16] }),
  message: Type.String({
    description: 'Error message',
    examples: ['the check character does not fit the fifteen before it'],
  }),
  meant: Type.Optional(
    Type.String({
      description: 'For a prefix before the code (TINIT-, VATIT-, IT): the code that is meant, not checked',
    }),
  ),
});

export const ValiditySchema = named('Validity', 'Whether a code is valid', {
  valid: Type.Boolean({ description: 'Whether the code is valid', examples: [true] }),
  kind: Type.Union([Type.Enum(['person', 'provisional', 'vat', 'organisation']), Type.Null()], {
    description:
      'Kind of the code by its own check digit: of a person, provisional, a VAT number (which is also the code of most organisations), of an organisation without VAT number; null when it is none of them',
    examples: ['person'],
  }),
  reason: Type.Optional(
    Type.Enum(
      [
        'length',
        'characters',
        'omocodia',
        'check-character',
        'date',
        'place',
        'place-not-in-force',
        'provisional-code',
        'vat-number',
        'organisation-code',
      ],
      { description: 'For an invalid code: the most important error' },
    ),
  ),
  faults: Type.Optional(Type.Array(CodeFaultSchema, { description: 'With details=true: all errors' })),
  warnings: Type.Optional(CodeWarnings),
});

/** The shape of every error under /cf and /it. */
export const FiscalErrorSchema = named('FiscalError', 'Every error under /cf and /it', {
  name: Type.String({ description: 'Class of the error', examples: ['BadRequest'] }),
  message: Type.String({ description: 'What is wrong', examples: ['Not a valid Codice Fiscale'] }),
  code: Type.Integer({ description: 'HTTP status', examples: [400] }),
  errors: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'What is wrong with each invalid field' }),
  ),
  candidates: Type.Optional(
    Type.Array(PlaceRecordSchema, { description: 'For an ambiguous place: the places that it may mean' }),
  ),
  suggestions: Type.Optional(
    Type.Array(PlaceRecordSchema, { description: 'For an unknown place: suggestions' }),
  ),
  faults: Type.Optional(
    Type.Array(CodeFaultSchema, { description: 'For a code, with details=true: everything that is wrong' }),
  ),
});

export type GeneratedCode = Static<typeof GeneratedCodeSchema>;
export type DecodedCode = Static<typeof DecodedCodeSchema>;
export type Validity = Static<typeof ValiditySchema>;
export type MatchResponse = Static<typeof MatchSchema>;
export type FiscalError = Static<typeof FiscalErrorSchema>;

export const CodeParams = Type.Object({
  fiscal_code: Type.String({
    description: 'A fiscal code, in upper or lower case',
    examples: ['RSSMRA80B01H501T'],
  }),
});

const yesOrNo = (description: string) => Type.Optional(Type.Enum(['true', 'false'], { description }));
const details = yesOrNo('Return all known facts, in addition to the fields of the specification');

const strict = yesOrNo('Reject a place that did not exist on the birth date');
const century = Type.Optional(
  Type.Enum(['1800', '1900', '2000'], {
    description: 'The century of the two-digit year; by default the latest possible one',
  }),
);
const asOf = Type.Optional(
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    description: 'The day as of which a code is read, instead of today in Italy: YYYY-MM-DD',
    examples: ['2026-06-15'],
  }),
);

export const CodeQuery = closedQuery({ details, strict, century, asOf });

export const GenerateQuery = closedQuery({ details, strict, asOf });

export const MatchQuery = closedQuery({ century, asOf });

export const CodeCheckQuery = closedQuery({
  strict,
  accept: Type.Optional(
    Type.Enum(['person', 'any'], {
      description: 'Kinds of valid codes: those of persons (default), or any Italian tax code',
    }),
  ),
  details,
  century,
  asOf,
});
