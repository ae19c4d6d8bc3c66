import type { PersonFaultFacts, PersonFaultReason, PersonField } from './person-fault.ts';

/** The fields that a message names. */
type Labels = Readonly<Record<'surname' | 'givenName', string>>;

export type PersonMessage = (fault: PersonFaultFacts) => string;

export const englishPersonMessage: PersonMessage = ({ field, reason, hint, suggestions = [] }) => {
  switch (field) {
    case 'surname':
    case 'givenName':
      return NAME_MESSAGES[reason]?.(LABELS[field]) ?? `the ${LABELS[field]} is not valid`;
    case 'birthplace':
      return reason === 'unknown'
        ? unknownPlace(hint, suggestions[0])
        : (OTHER_MESSAGES[`${field}.${reason}`] ?? 'the birthplace is not valid');
    default:
      return OTHER_MESSAGES[`${field}.${reason}`] ?? 'the data are not valid';
  }
};

const LABELS: Labels = { surname: 'surname', givenName: 'given name' };

const NAME_MESSAGES: Partial<Readonly<Record<PersonFaultReason, (label: string) => string>>> = {
  missing: (label) => `the ${label} is missing`,
  contradiction: (label) => `the ${label} is given, although the person is said to have none`,
  'no-letters': (label) => `the ${label} has no letter`,
  characters: (label) => `the ${label} has a character that no name is written with`,
};

type Key = `${PersonField}.${PersonFaultReason}`;

const OTHER_MESSAGES: Partial<Readonly<Record<Key, string>>> = {
  'sex.missing': 'the sex is missing',
  'sex.unknown': 'the sex must be F or M',
  'birthDate.missing': 'the birth date is missing',
  'birthDate.unknown': 'the birth date is on no calendar',
  'birthDate.future': 'the birth date is in the future',
  'birthDate.too-early': 'the birth date is before 1850; years have four digits',
  'birthplace.missing': 'the birthplace is missing',
  'birthplace.ambiguous': 'several places have this name',
  'birthplace.not-in-force': 'the birthplace was not in force on the birth date',
  'province.unknown': 'no province ever had this abbreviation',
};

type NamedPlace = { readonly name: string; readonly province: string; readonly codiceCatastale: string };

const unknownPlace = (hint: PersonFaultFacts['hint'], place: NamedPlace | undefined): string => {
  if (place === undefined || hint === null || hint === undefined || hint === 'similar')
    return 'no place is known by this name';
  if (hint === 'territory')
    return `this territory has no code of its own; the tax office has used ${place.codiceCatastale} (${place.name})`;
  return hint === 'other-province'
    ? `no place of this name was ever in that province; there is one in ${place.province}`
    : `this is a city abroad; give its state: ${place.name}`;
};
