import type { DecodedCode as DecodedResponse } from '../../../../contract/fiscal-codes.ts';
import { todayInItaly } from '../../../../people/fiscal-responses.ts';
import type { Rules } from '../../../../people/person-record.ts';
import { bilingualError, type CliError } from '../../../errors/cli-error.ts';
import type { Context } from '../../../framework/context.ts';
import { LANG } from '../../../framework/language.ts';
import {
  calendarDay,
  choice,
  type Fields,
  flag,
  listArgument,
  option,
  type Parameter,
  type Values,
} from '../../../framework/parameters.ts';

/** Fields of a decoded code. They are listed here, because the code that reads them loads far more. */
export const DECODED_FIELDS = [
  'name',
  'surname',
  'gender',
  'day',
  'month',
  'year',
  'birthday',
  'birthplace',
  'birthplaceProvincia',
  'cf',
] as const satisfies readonly (keyof DecodedResponse)[];

/** Codes as words, or `-`. They are personal data, and other users of a machine see the arguments of a process. */
export const CODES: Parameter<readonly string[]> = {
  ...listArgument('a fiscal code, or several; - reads stdin, one per line'),
  isRequired: false,
  // An empty word is an invalid code, like "$CODE" of a script without the variable.
  checkEach: () => undefined,
};

/** Options of the input of many codes, and of the output of bad lines. */
export const STREAM_OPTIONS = {
  file: option('--file <file>', 'read a file instead of stdin', { completes: 'files' }),
  rejects: option(
    '--rejects <file>',
    'write invalid lines to this file instead of reporting them on stderr',
    { completes: 'files' },
  ),
  out: option('--out <file>', 'with --append: write to this .csv or .xlsx file instead of stdout', {
    completes: 'files',
  }),
  sheet: option('--sheet <name>', 'sheet of the workbook to read; default: the first one'),
  delimiter: option(
    '--delimiter <character>',
    'separator of CSV columns; default: detected in the first line',
    findDelimiter,
  ),
};

export const COLUMN = option(
  '--column <name>',
  'for a table: name of the column of codes, or its number if the table has no header row',
);

export const APPEND = flag('--append', 'for a table: write every row again, in order, with added columns');

type CodeInput = { readonly codes: readonly string[] } & Partial<
  Values<typeof STREAM_OPTIONS & { readonly column: typeof COLUMN; readonly append: typeof APPEND }>
>;

/** Returns whether the codes are read from a file or stdin, and not from a few words. */
export function isStreamed({ codes, file, column, rejects, append, out }: CodeInput): boolean {
  if (out !== undefined && append !== true) throw outWithoutAppend();
  if (file === undefined && !codes.includes('-')) {
    const given = { '--column': column, '--rejects': rejects, '--append': append };
    const [option] = Object.entries(given).find(([, value]) => value) ?? [];
    if (option === undefined) return false;
    throw bilingualError(
      [`${option} is for many lines`, 'add - to read stdin, or --file FILE'],
      [`${option} vale per molte righe`, 'aggiungere - per leggere stdin, oppure --file FILE'],
    );
  }
  if (codes.length > (file === undefined ? 1 : 0)) {
    throw bilingualError(
      ['codes come as words or from a stream, not both', 'leave the codes out, or - and --file'],
      [
        'i codici si scrivono o si leggono da un file, non entrambe le cose',
        'togliere i codici, oppure - e --file',
      ],
    );
  }
  return true;
}

/** The error for --out, which only a table with added columns is written to. */
export function outWithoutAppend(): CliError {
  return bilingualError(
    ['--out is for --append', 'add --append, or redirect the output'],
    ['--out vale con --append', "aggiungere --append, o reindirizzare l'output"],
  );
}

/**
 * The fields that --json may choose. In `cf check --json CODE` the code was read as a field: then the error names the
 * missing code, not the field.
 */
export function fieldsFor({ codes, file }: CodeInput, fields: readonly string[]): Fields {
  return codes.length === 0 && file === undefined ? 'of-response' : fields;
}

/** Returns the given codes, or asks for one. */
export async function readCodes(context: Context, codes: readonly string[]): Promise<readonly string[]> {
  if (codes.length > 0) return codes;
  if (context.prompter.isInteractive) return [await context.prompter.text('Codice fiscale:')];
  // `--json CODE` reads the code as a list of fields.
  const isEaten = Array.isArray(context.terminal.json);
  throw bilingualError(
    ['missing CODES', isEaten ? 'put --json behind the code' : 'give a code, or - to read stdin'],
    ['manca il codice', isEaten ? 'mettere --json dopo il codice' : 'indicarlo, oppure - per leggere stdin'],
  );
}

function findDelimiter(text: string): string {
  const character = text === '\\t' || text === 'tab' ? '\t' : text;
  if (character.length === 1 && !/["\r\n]/.test(character)) return character;
  throw bilingualError(
    ['must be one character', "such as --delimiter ';', or tab"],
    ['deve essere un solo carattere', "ad esempio --delimiter ';', o tab"],
  );
}

const CENTURIES = ['1800', '1900', '2000'] as const;

/** Rules for checking codes; options of every command that reads codes. */
export const RULE_OPTIONS = {
  strict: flag('--strict', 'refuse a place that did not exist on the birth date'),
  century: option('--century <year>', 'fix the century of the two-digit year', choice(CENTURIES)),
  asOf: option('--as-of <date>', 'check as of this day instead of today, YYYY-MM-DD', calendarDay),
  lang: LANG,
};

/** The kinds of codes that `check` accepts. */
export const ACCEPT = option(
  '--accept <kinds>',
  'person: only codes of persons are valid (default); any: also provisional codes, VAT numbers and codes of organisations',
  choice(['person', 'any']),
);

export function toRules(context: Context, input: Values<typeof RULE_OPTIONS>): Rules {
  return {
    asOf: input.asOf ?? todayInItaly(context.io.clock()),
    strict: input.strict,
    century: input.century === undefined ? undefined : Number(input.century),
    language: input.lang ?? 'en',
  };
}
