import { parseJson } from '../../../../contract/unknown-value.ts';
import { type PersonRecord, type Rules, recordOfJson } from '../../../../people/person-record.ts';
import { bilingualError } from '../../../errors/cli-error.ts';
import type { Context } from '../../../framework/context.ts';
import { decodeText } from '../../../terminal/source-text.ts';
import { outWithoutAppend } from '../codes/code-options.ts';
import type { BatchOptions } from '../files/batch.ts';
import { openSource } from '../files/stream-source.ts';

/** Input of generate and match; `input` is `-` for stdin. */
export type PeopleInput = BatchOptions & {
  readonly input: string | undefined;
  readonly name: string | undefined;
  readonly surname: string | undefined;
  readonly gender: string | undefined;
  readonly date: string | undefined;
  readonly city: string | undefined;
  readonly province: string | undefined;
  readonly noName: boolean;
  readonly noSurname: boolean;
  readonly append: boolean;
  readonly csv: boolean;
  readonly ndjson: boolean;
  readonly delimiter: string | undefined;
  readonly sheet: string | undefined;
};

const FLAGS = ['name', 'surname', 'gender', 'date', 'city', 'province'] as const;

/** Maximum JSON of one person. */
export const MAX_PERSON_BYTES = 1024 * 1024;

/** @throws CliError (usage) for options that contradict each other */
export function isManyPeople(input: PeopleInput): boolean {
  if (input.input !== undefined && input.input !== '-') {
    throw bilingualError(
      ['people come by options, or from stdin with -'],
      ['le persone si indicano con le opzioni, o si leggono da stdin con -'],
    );
  }
  const isStreamed = input.input === '-' || input.file !== undefined;
  if (input.csv && input.ndjson)
    throw bilingualError(
      ['--csv and --ndjson exclude each other', 'give the one that the input is'],
      ['--csv e --ndjson si escludono', "indicare quello dell'input"],
    );
  if (isStreamed && (input.noName || input.noSurname || FLAGS.some((flag) => input[flag] !== undefined))) {
    throw bilingualError(
      ['people come by options or from a stream, not both'],
      ['le persone si indicano con le opzioni o si leggono da un file, non entrambe le cose'],
    );
  }
  if (input.input === '-' && input.file !== undefined) {
    throw bilingualError(
      ['people come from stdin or --file, not both', 'leave - or --file out'],
      ['le persone si leggono da stdin o da --file, non da entrambi', 'togliere - oppure --file'],
    );
  }
  const isMany = chooseFormat(input) !== 'json' && (isStreamed || input.csv || input.ndjson);
  if (input.append && (!isMany || chooseFormat(input) !== 'table')) {
    throw bilingualError(
      ['--append is for people in a table', 'add - and --csv, or --file with a .csv or .xlsx'],
      ['--append vale per una tabella di persone', 'aggiungere - e --csv, oppure --file con un .csv o .xlsx'],
    );
  }
  if (input.out !== undefined && !input.append) {
    throw outWithoutAppend();
  }
  if (!isMany && input.rejects !== undefined) {
    throw bilingualError(
      ['--rejects is for many people', 'add - and --csv or --ndjson'],
      ['--rejects vale per molte persone', 'aggiungere - e --csv o --ndjson'],
    );
  }
  return isMany;
}

/** The format by the option, else by the file's name. A table is CSV or a workbook, which its first bytes show. */
export function chooseFormat({
  csv,
  ndjson,
  file = '',
}: Pick<PeopleInput, 'csv' | 'ndjson' | 'file'>): 'table' | 'ndjson' | 'json' {
  if (csv || (!ndjson && /\.(csv|tsv|xlsx)$/i.test(file))) return 'table';
  return ndjson || /\.(ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'json';
}

export async function readPersonJson(context: Context, file: string | undefined): Promise<PersonRecord> {
  const source = await openSource(context.io, file);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of source.chunks) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_PERSON_BYTES) break;
    }
  } finally {
    await source.close();
  }
  const person = recordOfText(decodeText(Buffer.concat(chunks), file ?? 'stdin'));
  if (person !== undefined) return person;
  throw bilingualError(
    ['the input is not one JSON object', 'for many people add --csv or --ndjson'],
    ["l'input non è un oggetto JSON", 'per molte persone aggiungere --csv o --ndjson'],
  );
}

/** Returns undefined instead of the parser's message, which would quote the person. */
export function recordOfText(json: string): PersonRecord | undefined {
  return recordOfJson(parseJson(json));
}

/**
 * Returns what the options say of a person; asks for everything if they say nothing.
 * @throws CliError (usage) if nobody can be asked
 */
export async function knownOfOptions(
  context: Context,
  input: PeopleInput,
  rules: Rules,
): Promise<PersonRecord> {
  const given = givenByOptions(input);
  if (Object.keys(given).length > 0) return given;
  if (context.prompter.isInteractive) return personOfOptions(context, input, rules);
  const flags = FLAGS.filter((flag) => flag !== 'province').map((flag) => `--${flag}`);
  throw bilingualError(
    [`give at least one of ${flags.join(', ')}`, 'only what is given is compared; see: rtc cf match --help'],
    [
      `indicare almeno uno tra ${flags.join(', ')}`,
      'si confronta solo ciò che è indicato; vedere: rtc cf match --help',
    ],
  );
}

function givenByOptions(input: PeopleInput): PersonRecord {
  return {
    ...Object.fromEntries(
      FLAGS.filter((flag) => input[flag] !== undefined).map((flag) => [flag, input[flag]]),
    ),
    ...(input.noName ? { name: '', noName: true } : {}),
    ...(input.noSurname ? { surname: '', noSurname: true } : {}),
  };
}

/** Returns a whole person; asks for what the options do not say. */
export async function personOfOptions(
  context: Context,
  input: PeopleInput,
  rules: Rules,
): Promise<PersonRecord> {
  const given = givenByOptions(input);
  const missing = FLAGS.filter((flag) => flag !== 'province' && given[flag] === undefined);
  if (missing.length === 0) return given;
  if (!context.prompter.isInteractive) {
    const names = missing.map((flag) => `--${flag}`).join(', ');
    throw bilingualError(
      [`missing ${names}`, 'give them, or - to read the person from stdin; see: rtc cf generate --help'],
      [
        `mancano ${names}`,
        'indicarli, oppure - per leggere la persona da stdin; vedere: rtc cf generate --help',
      ],
    );
  }
  const { askForMissing } = await import('./ask-person.ts');
  return askForMissing(context.prompter, given, rules);
}
