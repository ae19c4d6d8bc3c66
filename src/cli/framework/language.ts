import { inLanguage } from '../errors/cli-error.ts';
import type { Column } from '../terminal/result.ts';
import { type CommandGroup, choice, option } from './parameters.ts';

type Language = 'en' | 'it';

/** Language of reasons and hints; an option of every command about codes and places. */
export const LANG = option('--lang <language>', 'language of reasons and hints', choice(['en', 'it']));

/**
 * Returns the error in the language of --lang, if the group's commands have that option. The words themselves are read,
 * because the error may be that they could not be parsed.
 */
export async function inAskedLanguage(
  error: unknown,
  { load }: CommandGroup,
  argv: readonly string[],
): Promise<unknown> {
  const { commands } = await load();
  if (!commands.some(({ options }) => 'lang' in options)) return error;
  const at = argv.lastIndexOf('--lang');
  const option = at < 0 ? argv.findLast((word) => word.startsWith('--lang='))?.slice(7) : argv[at + 1];
  return inLanguage(error, option);
}

/** Returns the columns with their headings in the language of --lang. */
export function translateHeadings<R>(
  columns: readonly Column<R>[],
  language: Language | undefined,
): readonly Column<R>[] {
  if (language !== 'it') return columns;
  return columns.map((column) => ({
    ...column,
    heading: ITALIAN_HEADINGS[column.heading] ?? column.heading,
  }));
}

const ITALIAN_HEADINGS: Readonly<Record<string, string>> = {
  SURNAME: 'COGNOME',
  NAME: 'NOME',
  GENDER: 'SESSO',
  BIRTHDAY: 'DATA DI NASCITA',
  BIRTHPLACE: 'LUOGO DI NASCITA',
  PROVINCE: 'PROVINCIA',
  'PLACE-CODE': 'CODICE CATASTALE',
  'PLACE-TODAY': 'LUOGO DI OGGI',
  'OR-BORN': 'OPPURE NATO/A IL',
  'BASE-CODE': 'CODICE DI BASE',
  WARNINGS: 'AVVISI',
  PART: 'PARTE',
  MATCHES: 'CORRISPONDE',
  EXPECTED: 'ATTESO',
  FOUND: 'TROVATO',
  REGION: 'REGIONE',
  PROVINCES: 'PROVINCE',
  CAPITAL: 'CAPOLUOGO',
  CODE: 'CODICE',
  FROM: 'DAL',
  TO: 'AL',
  TODAY: 'OGGI',
  'OTHER-NAMES': 'ALTRI NOMI',
  VERSION: 'VERSIONE',
  FINGERPRINT: 'IMPRONTA',
  NOTICE: 'NOTA',
  'POSTAL CODES': 'CODICI POSTALI',
};
