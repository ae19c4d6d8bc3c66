import { describe, expect, it } from 'vitest';
import {
  check,
  generate,
  type Messages,
  messages,
  type Person,
  translateFailure,
  translateFaults,
} from '../../src/fiscal/index.ts';
import { asOf } from './people.ts';

const mario: Person = {
  surname: 'Rossi',
  givenName: 'Mario',
  sex: 'M',
  birthDate: '1980-02-01',
  birthplace: 'Roma',
};

/** For each message, a code that causes it, and the message in Italian. */
const CODES: readonly (readonly [code: string, message: string])[] = [
  ['RSSMRA80B01H501', 'il codice fiscale di una persona fisica ha 16 caratteri, questo ne ha 15'],
  ['RSSMRA80B01H501TX', 'il codice fiscale di una persona fisica ha 16 caratteri, questo ne ha 17'],
  ['RSSMRA80B01H-01', 'il carattere 13 non è una lettera dalla A alla Z o una cifra'],
  ['R1SMRA80B01H501T', 'il carattere 2 deve essere una lettera dalla A alla Z'],
  [
    'RSSMRAA0B01H501T',
    'il carattere 7 deve essere una cifra o, in caso di omocodia, una delle lettere LMNPQRSTUV',
  ],
  ['RSSMRA80B01H501X', 'il carattere di controllo non corrisponde ai quindici che lo precedono'],
  ['RSSMRA80F01H501X', 'il carattere 9 non è la lettera di un mese'],
  ['RSSMRA80B00H501S', 'il giorno di nascita deve essere da 01 a 31, o da 41 a 71 per il sesso femminile'],
  ['RSSMRA80B30H501Z', 'il giorno di nascita non esiste in quel mese'],
  ['RSSMRA80B01Z999C', 'nessun comune o stato estero ha mai avuto questo codice catastale'],
  ['00743110157', 'è una partita IVA, o il codice fiscale di un soggetto diverso da persona fisica'],
  ['00743110158', "l'ultima delle undici cifre, quella di controllo, non corrisponde alle altre"],
  ['01256588755', 'le cifre da 8 a 10 non sono quelle di alcun ufficio che abbia attribuito codici'],
  [
    '80000011006',
    "l'ufficio (cifre da 8 a 10) di un soggetto diverso da persona fisica senza partita IVA va da 001 a 095",
  ],
  ['00000000018', 'le cifre da 1 a 7 non possono essere tutte zero'],
  ['1234567890A', 'un codice di undici caratteri ha soltanto cifre'],
  ['007431101577', 'un codice di sole cifre ne ha undici, questo ne ha 12'],
  ['IT00743110157', 'è una partita IVA con la sigla del Paese: il numero sono le undici cifre dopo IT'],
  ['ITRSSMRA80B01H501T', 'IT è la sigla del Paese; il codice è quello che segue'],
  [
    'TINIT-RSSMRA80B01H501T',
    'i primi sei caratteri sono il prefisso con cui SPID e CIE forniscono un codice; il codice è quello che segue',
  ],
  ['80012000826', 'è il codice fiscale di un soggetto diverso da persona fisica'],
];

const PEOPLE: readonly (readonly [change: object, message: string])[] = [
  [{ surname: '' }, 'manca il cognome'],
  [{ givenName: '-' }, 'il nome non contiene lettere'],
  [{ givenName: 'M4rio' }, 'il nome contiene un carattere non ammesso'],
  [{ noName: true }, 'il nome è indicato, ma la persona risulta senza nome'],
  [{ sex: '' }, 'manca il sesso'],
  [{ sex: 'X' }, 'il sesso deve essere F o M'],
  [{ birthDate: '' }, 'manca la data di nascita'],
  [{ birthDate: '1980-02-30' }, 'la data di nascita non esiste nel calendario'],
  [{ birthDate: '2999-01-01' }, 'la data di nascita è futura'],
  [{ birthDate: '1810-01-01' }, "la data di nascita è anteriore al 1850; l'anno ha quattro cifre"],
  [{ birthplace: '' }, 'manca il comune o lo stato estero di nascita'],
  [{ birthplace: 'Atlantide' }, 'nessun comune o stato estero con questo nome'],
  [{ birthplace: 'Castro' }, 'più luoghi hanno questo nome'],
  [
    { birthplace: 'Roma', province: 'MI' },
    "nessun luogo con questo nome è mai stato in quella provincia; ce n'è uno in provincia di RM",
  ],
  [
    { birthplace: 'Jersey' },
    "il territorio non ha un codice proprio; l'Agenzia delle Entrate ha usato Z124 (ISOLE DEL CANALE)",
  ],
  [{ birthplace: 'Parigi' }, 'è una città estera; indicare lo stato estero di nascita: FRANCIA'],
  [{ province: 'ZZ' }, 'nessuna provincia ha mai avuto questa sigla'],
];

describe('messages about codes', () => {
  it.each(CODES)('describe %s in Italian and English', (code, message) => {
    const failure = check(code, { asOf });
    if (failure.ok) throw new Error('the code is valid');
    expect(translateFailure(failure, 'it').faults.map((fault) => fault.message)).toContain(message);
    expect(translateFailure(failure, 'en')).toEqual(failure);
  });
});

describe("messages about a person's data", () => {
  it.each(PEOPLE)('describe %o in Italian and English', (change, message) => {
    const result = generate({ ...mario, ...change }, { asOf });
    const faults = result.ok ? [] : result.faults;
    expect(translateFaults(faults, 'it').map((fault) => fault.message)).toContain(message);
    expect(translateFaults(faults, 'en')).toEqual(faults);
  });

  it('describe in Italian a place that strict rules refuse', () => {
    const result = generate({ ...mario, birthplace: 'Fonte Nuova' }, { asOf, strict: true });
    const [fault] = result.ok ? [] : result.faults;
    expect(fault === undefined ? '' : messages.it.personFault(fault)).toBe(
      'il comune o lo stato estero di nascita non esisteva alla data di nascita',
    );
  });
});

describe('the catalogues of messages', () => {
  const texts = ({ codeFault: _, personFault: _other, ...tables }: Messages) => tables;

  it('have the same codes in both languages, and different texts', () => {
    const [english, italian] = [texts(messages.en), texts(messages.it)];
    for (const table of Object.keys(english) as (keyof typeof english)[]) {
      expect(Object.keys(italian[table])).toEqual(Object.keys(english[table]));
      const [ofEnglish, ofItalian] = [Object.values(english[table]), Object.values(italian[table])];
      expect(ofItalian.every((text) => text !== '')).toBe(true);
      expect(ofItalian.filter((text) => ofEnglish.includes(text))).toEqual([]);
    }
  });
});
