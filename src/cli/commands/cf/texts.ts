import type { Language } from '../../../fiscal/index.ts';
import type { RowProblem } from '../../../people/csv-rows.ts';
import { PERSON_TEXTS, type PersonTexts } from '../../../people/person-texts.ts';

/** A field and the name of its column. */
type Understood = readonly [field: string, column: string];

/** The columns that --append can add. */
export type AddedColumn =
  | 'codice_fiscale'
  | 'gender'
  | 'birthday'
  | 'place'
  | 'province'
  | 'matches'
  | 'differs'
  | 'skipped'
  | 'warning'
  | 'reason';

/** Messages of these commands, beside the messages of the library. */
type Texts = PersonTexts & {
  readonly noCode: string;
  readonly invalidCode: string;
  readonly compareWithCard: string;
  readonly seePlaces: (province: string) => string;
  readonly findPlace: string;
  readonly seeHistory: string;
  readonly notOfPerson: string;
  readonly birthplace: (place: string) => string;
  readonly badLine: (line: number, reason: string, message: string) => string;
  readonly furtherBad: string;
  readonly readAs: (format: string) => string;
  /** The names of what separates the cells of a table. */
  readonly delimiters: Readonly<Record<string, string>>;
  readonly summary: (counts: {
    readonly lines: string;
    readonly good: string;
    readonly bad: string;
  }) => string;
  readonly rowProblems: Readonly<Record<RowProblem, string>>;
  readonly brokenRow: string;
  readonly noJsonObject: string;
  readonly notUtf8: string;
  readonly noLineEnd: (bytes: number) => string;
  readonly yes: string;
  readonly no: string;
  readonly skipped: string;
  readonly valid: string;
  readonly invalid: string;
  readonly wouldFit: (character: string) => string;
  readonly tooLongToShow: string;
  readonly noValidCode: string;
  /**
   * Describes how a table was understood: its format, the name of the column of each field, and the number of unread
   * columns.
   */
  readonly understood: (format: string, columns: readonly Understood[], others: number) => string;
  readonly columns: Readonly<Record<AddedColumn, string>>;
  readonly reasons: Readonly<Record<string, string>>;
};

export const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    ...PERSON_TEXTS.en,
    noCode: 'these data make no code',
    invalidCode: 'that is not a valid codice fiscale',
    compareWithCard: 'compare it with the card or document that it comes from',
    seePlaces: (province) => `see which places there are: rtc it cities ${province}`,
    findPlace: 'search for it by the beginning of its name: rtc it find NAME',
    seeHistory: 'see when it was in force: rtc it find NAME; or leave --strict out',
    notOfPerson: 'the code is not that of the person',
    birthplace: (place) => `Birthplace: ${place}.`,
    badLine: (line, reason, message) => `line ${line}: ${reason}: ${message}`,
    furtherBad: 'Further bad lines are counted and not named; --rejects FILE keeps them all.',
    readAs: (format) => `Read as ${format}.`,
    delimiters: { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' },
    summary: ({ lines, good, bad }) =>
      `${lines} ${lines === '1' ? 'line' : 'lines'}: ${good} good, ${bad} bad`,
    rowProblems: {
      'no-end': 'more than a megabyte without an end: is a quote never closed?',
      'quote-not-closed': 'a quote is opened and never closed',
      'quote-misplaced': 'a quote stands in the midst of a cell',
    },
    brokenRow: 'csv: the row cannot be read',
    noJsonObject: 'the line is not a JSON object',
    notUtf8: 'this line is not UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE',
    noLineEnd: (bytes) => `more than ${bytes} bytes without a line end`,
    yes: 'yes',
    no: 'no',
    skipped: 'skipped',
    valid: 'valid',
    invalid: 'invalid',
    wouldFit: (character) => `${character} would`,
    tooLongToShow: '(too long to show)',
    noValidCode: 'No code is valid.',
    understood: (format, columns, others) =>
      `Read as ${format}: ${columns.map(([field, column]) => `${field} = ${JSON.stringify(column)}`).join(', ')}${countOthers(others, 'other column is not read', 'other columns are not read')}.`,
    columns: {
      codice_fiscale: 'codice_fiscale',
      gender: 'gender',
      birthday: 'birthday',
      place: 'place',
      province: 'province',
      matches: 'matches',
      differs: 'differs',
      skipped: 'skipped',
      warning: 'warning',
      reason: 'reason',
    },
    reasons: {
      'not-text': 'is no text',
      'too-long': 'is too long',
      'not-boolean': 'is neither yes nor no',
      'not-number': 'is no number',
      'out-of-range': 'is out of range',
      differs: 'differs',
      garbled: 'could not be read',
    },
  },
  it: {
    ...PERSON_TEXTS.it,
    noCode: 'questi dati non producono alcun codice',
    invalidCode: 'codice fiscale non valido',
    compareWithCard: 'confrontare con la tessera o il documento da cui proviene',
    seePlaces: (province) => `l'elenco dei luoghi: rtc it cities ${province}`,
    findPlace: "cercarlo con l'inizio del nome: rtc it find NOME",
    seeHistory: 'vedere quando esisteva: rtc it find NOME; oppure togliere --strict',
    notOfPerson: 'il codice fiscale non corrisponde ai dati anagrafici',
    birthplace: (place) => `Luogo di nascita: ${place}.`,
    // Reasons are English words.
    badLine: (line, _reason, message) => `riga ${line}: ${message}`,
    furtherBad: 'Le altre righe errate sono contate e non elencate; --rejects FILE le conserva tutte.',
    readAs: (format) => `Letto come ${format}.`,
    delimiters: { ',': 'virgole', ';': 'punti e virgola', '\t': 'tabulazioni', '|': 'barre' },
    summary: ({ lines, good, bad }) =>
      `${lines} ${lines === '1' ? 'riga' : 'righe'}: ${good} ${good === '1' ? 'corretta' : 'corrette'}, ${bad} ${bad === '1' ? 'errata' : 'errate'}`,
    rowProblems: {
      'no-end': 'più di un megabyte senza fine di riga: virgolette mai chiuse?',
      'quote-not-closed': 'virgolette aperte e mai chiuse',
      'quote-misplaced': 'virgolette in mezzo a una cella',
    },
    brokenRow: 'csv: riga illeggibile',
    noJsonObject: 'la riga non è un oggetto JSON',
    notUtf8: 'la riga non è in UTF-8; convertire il file: iconv -f WINDOWS-1252 -t UTF-8 FILE',
    noLineEnd: (bytes) => `più di ${bytes} byte senza fine di riga`,
    yes: 'sì',
    no: 'no',
    skipped: 'non confrontato',
    valid: 'valido',
    invalid: 'non valido',
    wouldFit: (character) => `${character} corrisponderebbe`,
    tooLongToShow: '(troppo lungo per mostrarlo)',
    noValidCode: 'Nessun codice è valido.',
    understood: (format, columns, others) =>
      `Letto come ${format}: ${columns.map(([field, column]) => `${PERSON_TEXTS.it.fields[field] ?? field} = ${JSON.stringify(column)}`).join(', ')}${countOthers(others, 'altra colonna non usata', 'altre colonne non usate')}.`,
    columns: {
      codice_fiscale: 'codice_fiscale',
      gender: 'sesso_letto',
      birthday: 'data_nascita_letta',
      place: 'luogo',
      province: 'provincia_letta',
      matches: 'corrisponde',
      differs: 'differenze',
      skipped: 'non_confrontati',
      warning: 'avviso',
      reason: 'motivo',
    },
    reasons: {
      'not-text': 'non è un testo',
      'too-long': 'troppo lungo',
      'not-boolean': 'né sì né no',
      'not-number': 'non è un numero',
      'out-of-range': 'fuori intervallo',
      differs: 'non corrisponde',
      garbled: 'illeggibile',
    },
  },
};

function countOthers(count: number, one: string, several: string): string {
  return count <= 0 ? '' : `; ${count} ${count === 1 ? one : several}`;
}
