import { englishCodeMessages } from './code-messages.ts';
import type { Messages } from './message-catalogue.ts';
import { englishPersonMessage } from './person-messages.ts';

export const english: Messages = {
  codeFault: (fault) => englishCodeMessages[fault.detail](fault),
  personFault: englishPersonMessage,
  checkReasons: {
    length: 'wrong length',
    characters: 'a character that cannot stand there',
    omocodia: 'a letter that stands for no digit',
    'check-character': 'wrong check character',
    date: 'no such birth date',
    place: 'no such place code',
    'place-not-in-force': 'the place was not in force on the birth date',
    'provisional-code': 'a provisional code of eleven digits',
    'vat-number': 'a VAT number, or the code of an organisation',
    'organisation-code': 'the code of an organisation',
  },
  personReasons: {
    missing: 'missing',
    'no-letters': 'has no letter',
    characters: 'has a character that cannot stand there',
    contradiction: 'is given, although the person is said to have none',
    unknown: 'is unknown',
    future: 'is in the future',
    'too-early': 'is before 1850',
    ambiguous: 'may be several places',
    'not-in-force': 'was not in force on the birth date',
  },
  warnings: {
    'place-not-in-force': 'the birthplace was not in force on the birth date',
    'names-not-derivable': 'no surname or given name gives these letters',
    'place-ended': 'the birthplace had ended before the birth date: the code has the place that took it over',
    'names-after-comma': 'given names after a comma are not certified and were left out',
  },
  hints: {
    'other-province': 'give the province in which the place is',
    'foreign-city': 'for a birth abroad give the state, and EE as the province',
    similar: 'one of these places may be meant; a Belfiore code is always clear',
    ambiguous: 'add the province, or give the Belfiore code of the place',
  },
  kinds: {
    person: 'codice fiscale of a person',
    provisional: 'provisional codice fiscale of a person',
    vat: 'VAT number, or codice fiscale of an organisation',
    organisation: 'codice fiscale of an organisation',
  },
  parts: {
    surname: 'surname',
    givenName: 'given name',
    sex: 'sex',
    day: 'day of birth',
    month: 'month of birth',
    year: 'year of birth',
    birthplace: 'birthplace',
  },
  extents: {
    all: 'names, sex, birth date and birthplace were compared',
    'names-and-date': 'names and birth date were compared, but not everything',
    names: 'the names were compared, but no whole birth date: many people share these letters',
    some: 'only a part of the data was compared',
  },
  placeMatches: {
    code: 'its Belfiore code was given',
    name: 'its name on the birth date',
    alias: 'another name of it',
    'other-name': 'its name at another time',
    later: 'it came after the birth date',
    ended: 'it had ended before the birth date',
    undated: 'no register has its dates',
    successor: 'it took over the place that was named',
  },
};
