import type { CheckWarning } from './check.ts';
import type { CheckFailure, CheckFault } from './check-failure.ts';
import type { CheckReason } from './check-status.ts';
import type { TaxCodeKind } from './check-tax-code.ts';
import { type CodeMessages, englishCodeMessages } from './code-messages.ts';
import type { PlaceNotFound } from './geography/find-place.ts';
import type { PlaceMatch } from './geography/look-up-place.ts';
import type { MatchExtent, MatchPartName } from './match.ts';
import type { PersonWarning } from './person.ts';
import type { PersonFault, PersonFaultFacts, PersonFaultReason, PersonField } from './person-fault.ts';
import { englishPersonMessage } from './person-messages.ts';

export type Language = 'en' | 'it';

/** All messages of the library. A message contains no part of a code or of a person's data. */
export type Messages = {
  /** Describes an error of a code, and its position. */
  readonly codeFault: (fault: Pick<CheckFault, 'detail' | 'start' | 'end'>) => string;
  /** Describes an error of a field of a person's data. */
  readonly personFault: (fault: PersonFaultFacts) => string;
  /** Reasons of a check, for a report or a heading. */
  readonly checkReasons: Readonly<Record<CheckReason, string>>;
  /** Reasons of faults in a person's data, for a report or a heading. */
  readonly personReasons: Readonly<Record<PersonFaultReason, string>>;
  readonly warnings: Readonly<Record<CheckWarning | PersonWarning, string>>;
  /** Describes what to do about a place that was not found. */
  readonly hints: Readonly<Record<PlaceHint, string>>;
  readonly kinds: Readonly<Record<TaxCodeKind, string>>;
  readonly parts: Readonly<Record<MatchPartName, string>>;
  /** How much a match proves. */
  readonly extents: Readonly<Record<MatchExtent, string>>;
  /** Why a place was chosen. */
  readonly placeMatches: Readonly<Record<PlaceMatch, string>>;
};

/** The hints for a place that was not found, and `ambiguous` for several places with one name. */
export type PlaceHint = NonNullable<PlaceNotFound['hint']> | 'ambiguous';

const personReasons: Readonly<Record<PersonFaultReason, string>> = {
  missing: 'mancante',
  'no-letters': 'senza lettere',
  characters: 'con un carattere non ammesso',
  contradiction: 'indicato, ma la persona risulta senza',
  unknown: 'sconosciuto',
  future: 'futuro',
  'too-early': 'anteriore al 1850',
  ambiguous: 'ambiguo',
  'not-in-force': 'non esistente alla data di nascita',
};

const english: Messages = {
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
    territory: 'give the code with which the birth is registered, such as the one that is named',
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

/**
 * The messages in Italian, in the words of the Agenzia delle Entrate: persona fisica, soggetto diverso da persona fisica,
 * carattere di controllo, codice catastale, comune o stato estero di nascita.
 */

/** Vowels with a grave accent, as code points. latin-letters.ts says why the library is ASCII. */
const [a, e, u] = [0xe0, 0xe8, 0xf9].map((code) => String.fromCharCode(code));

const codeMessages: CodeMessages = {
  length: ({ end }) => `il codice fiscale di una persona fisica ha 16 caratteri, questo ne ha ${end}`,
  'eleven-characters': () => 'un codice di undici caratteri ha soltanto cifre',
  'digit-count': ({ end }) => `un codice di sole cifre ne ha undici, questo ne ha ${end}`,
  'running-number': () => 'le cifre da 1 a 7 non possono essere tutte zero',
  office: () => 'le cifre da 8 a 10 non sono quelle di alcun ufficio che abbia attribuito codici',
  'organisation-office': () =>
    "l'ufficio (cifre da 8 a 10) di un soggetto diverso da persona fisica senza partita IVA va da 001 a 095",
  'vat-prefix': () => `${e} una partita IVA con la sigla del Paese: il numero sono le undici cifre dopo IT`,
  'country-prefix': () => `IT ${e} la sigla del Paese; il codice ${e} quello che segue`,
  'identity-prefix': () =>
    `i primi sei caratteri sono il prefisso con cui SPID e CIE forniscono un codice; il codice ${e} quello che segue`,
  'stray-character': ({ end }) => `il carattere ${end} non ${e} una lettera dalla A alla Z o una cifra`,
  'letter-expected': ({ end }) => `il carattere ${end} deve essere una lettera dalla A alla Z`,
  'digit-expected': ({ end }) => `il carattere ${end} deve essere una cifra`,
  'omocodia-letter': ({ end }) =>
    `il carattere ${end} deve essere una cifra o, in caso di omocodia, una delle lettere LMNPQRSTUV`,
  'check-character': () => 'il carattere di controllo non corrisponde ai quindici che lo precedono',
  'check-digit': () => `l'ultima delle undici cifre, quella di controllo, non corrisponde alle altre`,
  month: () => `il carattere 9 non ${e} la lettera di un mese`,
  day: () => 'il giorno di nascita deve essere da 01 a 31, o da 41 a 71 per il sesso femminile',
  'day-of-month': () => 'il giorno di nascita non esiste in quel mese',
  'birth-date': () => `la data di nascita non esiste in quell'anno, oppure ${e} futura`,
  place: () => 'nessun comune o stato estero ha mai avuto questo codice catastale',
  'place-not-in-force': () => 'il comune o lo stato estero di nascita non esisteva alla data di nascita',
  'provisional-code': () =>
    `${e} un codice fiscale provvisorio di undici cifre, non quello definitivo di una persona fisica`,
  'vat-number': () => `${e} una partita IVA, o il codice fiscale di un soggetto diverso da persona fisica`,
  'organisation-code': () => `${e} il codice fiscale di un soggetto diverso da persona fisica`,
};

const personMessage = ({ field, reason, hint, suggestions: [place] = [] }: PersonFaultFacts): string => {
  if (field === 'surname' || field === 'givenName')
    return nameMessages[reason]?.(field === 'surname' ? 'cognome' : 'nome') ?? `${field} non valido`;
  if (place !== undefined && reason === 'unknown' && hint === 'other-province')
    return `nessun luogo con questo nome ${e} mai stato in quella provincia; ce n'${e} uno in provincia di ${place.province}`;
  if (place !== undefined && reason === 'unknown' && hint === 'territory')
    return `il territorio non ha un codice proprio; l'Agenzia delle Entrate ha usato ${place.codiceCatastale} (${place.name})`;
  if (place !== undefined && reason === 'unknown' && hint === 'foreign-city')
    return `${e} una citt${a} estera; indicare lo stato estero di nascita: ${place.name}`;
  return fieldMessages[`${field}.${reason}`] ?? personReasons[reason];
};

const nameMessages: Partial<Readonly<Record<PersonFaultReason, (label: string) => string>>> = {
  missing: (label) => `manca il ${label}`,
  contradiction: (label) => `il ${label} ${e} indicato, ma la persona risulta senza ${label}`,
  'no-letters': (label) => `il ${label} non contiene lettere`,
  characters: (label) => `il ${label} contiene un carattere non ammesso`,
};

const fieldMessages: Partial<Readonly<Record<`${PersonField}.${PersonFaultReason}`, string>>> = {
  'sex.missing': 'manca il sesso',
  'sex.unknown': 'il sesso deve essere F o M',
  'birthDate.missing': 'manca la data di nascita',
  'birthDate.unknown': 'la data di nascita non esiste nel calendario',
  'birthDate.future': `la data di nascita ${e} futura`,
  'birthDate.too-early': `la data di nascita ${e} anteriore al 1850; l'anno ha quattro cifre`,
  'birthplace.missing': 'manca il comune o lo stato estero di nascita',
  'birthplace.unknown': 'nessun comune o stato estero con questo nome',
  'birthplace.ambiguous': `pi${u} luoghi hanno questo nome`,
  'birthplace.not-in-force': 'il comune o lo stato estero di nascita non esisteva alla data di nascita',
  'province.unknown': 'nessuna provincia ha mai avuto questa sigla',
};

const italian: Messages = {
  codeFault: (fault) => codeMessages[fault.detail](fault),
  personFault: personMessage,
  checkReasons: {
    length: 'lunghezza errata',
    characters: 'carattere non ammesso',
    omocodia: 'lettera non prevista per omocodia',
    'check-character': 'carattere di controllo errato',
    date: 'data di nascita inesistente',
    place: 'codice catastale inesistente',
    'place-not-in-force': 'luogo non esistente alla data di nascita',
    'provisional-code': 'codice fiscale provvisorio di undici cifre',
    'vat-number': 'partita IVA, o codice fiscale di un soggetto diverso da persona fisica',
    'organisation-code': 'codice fiscale di un soggetto diverso da persona fisica',
  },
  personReasons,
  warnings: {
    'place-not-in-force': 'il comune o lo stato estero di nascita non esisteva alla data di nascita',
    'names-not-derivable': 'nessun cognome o nome produce queste lettere',
    'place-ended':
      'il luogo di nascita era cessato prima della data di nascita: il codice riporta quello che gli era subentrato',
    'names-after-comma': 'i nomi dopo la virgola non sono certificati e non entrano nel codice',
  },
  hints: {
    'other-province': 'indicare la provincia in cui si trova il luogo',
    'foreign-city': 'per le nascite estere indicare lo stato, e EE come provincia',
    territory: 'indicare il codice con cui la nascita risulta registrata, ad esempio quello indicato',
    similar: `forse si intende uno di questi luoghi; il codice catastale ${e} sempre univoco`,
    ambiguous: 'aggiungere la provincia, o indicare il codice catastale del luogo',
  },
  kinds: {
    person: 'codice fiscale di persona fisica',
    provisional: 'codice fiscale provvisorio di persona fisica',
    vat: 'partita IVA, o codice fiscale di un soggetto diverso da persona fisica',
    organisation: 'codice fiscale di un soggetto diverso da persona fisica',
  },
  parts: {
    surname: 'cognome',
    givenName: 'nome',
    sex: 'sesso',
    day: 'giorno di nascita',
    month: 'mese di nascita',
    year: 'anno di nascita',
    birthplace: 'comune o stato estero di nascita',
  },
  extents: {
    all: 'confrontati nome, cognome, sesso, data e luogo di nascita',
    'names-and-date': 'confrontati nome, cognome e data di nascita, ma non tutto',
    names: 'confrontati nome e cognome, ma non la data di nascita: molte persone hanno le stesse lettere',
    some: 'confrontata soltanto una parte dei dati',
  },
  placeMatches: {
    code: `${e} stato indicato il suo codice catastale`,
    name: 'aveva questo nome alla data di nascita',
    alias: `${e} un altro suo nome`,
    'other-name': 'aveva questo nome in un altro periodo',
    later: `${e} stato istituito dopo la data di nascita`,
    ended: 'era cessato prima della data di nascita',
    undated: 'nessun registro ne riporta le date',
    successor: `${e} subentrato al luogo indicato`,
  },
};

/** Messages by language. The Italian ones use the terms of the Agenzia delle Entrate. */
export const messages: Readonly<Record<Language, Messages>> = { en: english, it: italian };

/** The failure with its messages in the language. */
export const translateFailure = (failure: CheckFailure, language: Language): CheckFailure => {
  const { codeFault } = messages[language];
  const [first, ...others] = failure.faults;
  const deciding = { ...first, message: codeFault(first) };
  return {
    ...failure,
    message: deciding.message,
    faults: [deciding, ...others.map((fault) => ({ ...fault, message: codeFault(fault) }))],
  };
};

/** The faults with their messages in the language. */
export const translateFaults = (faults: readonly PersonFault[], language: Language): readonly PersonFault[] =>
  faults.map((fault) => ({ ...fault, message: messages[language].personFault(fault) }));
