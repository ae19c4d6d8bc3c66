import type { messages } from '../../../fiscal/index.ts';

type Language = keyof typeof messages;

/**
 * Language of the forms and reasons: Italian if it is the browser's first language, because codes mostly concern Italians;
 * else English like the rest of the console. Works in a worker too.
 */
export const READER_LANGUAGE: Language = /^it\b/i.test(navigator.language) ? 'it' : 'en';

/** The option with which commands print the same language. */
export const LANG_OPTION: readonly string[] = READER_LANGUAGE === 'it' ? ['--lang', 'it'] : [];

/** Returns a text of the forms in the language of the reader. */
export function say(english: keyof typeof ITALIAN): string {
  return READER_LANGUAGE === 'it' ? ITALIAN[english] : english;
}

/** Italian texts by the English ones. */
const ITALIAN = {
  'Fiscal codes': 'Codici fiscali',
  'computed in this browser, nothing is sent': 'calcolati in questo browser, nulla viene inviato',
  Copy: 'Copiare',
  Copied: 'Copiato',
  Make: 'Calcolo',
  Surname: 'Cognome',
  'Given names': 'Nome o nomi',
  Sex: 'Sesso',
  Choose: 'Scegliere',
  Female: 'Femmina',
  Male: 'Maschio',
  'Birth date': 'Data di nascita',
  Birthplace: 'Luogo di nascita',
  'A comune, or a state': 'Un comune, o uno stato estero',
  Places: 'Luoghi',
  until: 'fino al',
  'Read and check': 'Lettura e verifica',
  'Fiscal code': 'Codice fiscale',
  Valid: 'Valido',
  'Not valid': 'Non valido',
  'Letters of the names': 'Lettere dei nomi',
  or: 'oppure',
  today: 'oggi',
  'Compare with a person': 'Confronto con una persona',
  'Known surname': 'Cognome noto',
  'Known given names': 'Nomi noti',
  'Known sex': 'Sesso noto',
  'Not known': 'Non noto',
  'Known birth date': 'Data di nascita nota',
  'Known birthplace': 'Luogo di nascita noto',
  'in the code': 'nel codice',
  'of the person': 'della persona',
  Matches: 'Corrisponde',
  Differs: 'Non corrisponde',
  'A whole file': 'Un intero file',
  'Drop a CSV file here, with columns such as surname, name, gender, birth date and city, also in Italian.':
    'Trascinare qui un file CSV, con colonne come cognome, nome, sesso, data e luogo di nascita.',
  'Choose a file': 'Scegliere un file',
  'Download the file with its codes': 'Scaricare il file con i codici',
  Row: 'Riga',
  'Why it has no code': 'Perché non ha un codice',
  'of a person': 'di persona fisica',
  'a provisional code': 'codice provvisorio',
  'a VAT number': 'partita IVA',
  'of an organisation': 'di un soggetto diverso da persona fisica',
  codes: 'codici',
  'rows without one': 'righe senza codice',
  'rows so far': 'righe finora',
  'of 16 characters': 'caratteri su 16',
  Level: 'Livello',
  from: 'da',
  'The first row names no column for': 'La prima riga non ha una colonna per',
  'the row is no CSV: look at its quotes': 'la riga non è CSV: controllare le virgolette',
} as const;
