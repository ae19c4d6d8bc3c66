import type { Language } from '../fiscal/index.ts';

/** Messages about the cells of a table of people, beside the messages of the fiscal library. */
export type PersonTexts = {
  /** The messages explain how a table states that a person has none. */
  readonly nameMissing: string;
  readonly surnameMissing: string;
  readonly dateMissing: string;
  readonly dateFormat: string;
  /** Precedes the year in which a place ended. */
  readonly until: string;
  readonly garbled: (field: string) => string;
  /** Names of the fields that the API calls otherwise. */
  readonly fields: Readonly<Record<string, string>>;
};

const ITALIAN_FIELDS: Readonly<Record<string, string>> = {
  name: 'nome',
  surname: 'cognome',
  gender: 'sesso',
  day: 'giorno di nascita',
  month: 'mese di nascita',
  year: 'anno di nascita',
  date: 'data di nascita',
  birthday: 'data di nascita',
  city: 'luogo di nascita',
  place: 'luogo di nascita',
  province: 'provincia',
  state: 'stato estero di nascita',
  cf: 'codice fiscale',
  noName: 'senza nome',
  noSurname: 'senza cognome',
};

export const PERSON_TEXTS: Readonly<Record<Language, PersonTexts>> = {
  en: {
    nameMissing:
      'the given name is missing; if the person has none, add a column "no name" with yes, or use the header "name (if any)"',
    surnameMissing:
      'the surname is missing; if the person has none, add a column "no surname" with yes, or use the header "surname (if any)"',
    dateMissing: 'the birth date is missing',
    dateFormat: 'the birth date must be YYYY-MM-DD or DD/MM/YYYY',
    until: 'until',
    garbled: (field) => `the ${field} has characters that could not be read: is the input UTF-8 throughout?`,
    fields: {},
  },
  it: {
    nameMissing:
      'manca il nome; per chi non lo ha: una colonna "senza nome" con sì, oppure l\'intestazione "nome (se presente)"',
    surnameMissing:
      'manca il cognome; per chi non lo ha: una colonna "senza cognome" con sì, oppure l\'intestazione "cognome (se presente)"',
    dateMissing: 'manca la data di nascita',
    dateFormat: 'la data di nascita deve avere la forma GG/MM/AAAA o AAAA-MM-GG',
    until: 'fino al',
    garbled: (field) => `${field}: caratteri illeggibili; il file è tutto in UTF-8?`,
    fields: ITALIAN_FIELDS,
  },
};
