import { CliError, EXIT, SEE_HELP, usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { escapeForTerminal } from '../../terminal/escape-for-terminal.ts';
import { type Result, text } from '../../terminal/result.ts';
import { printWarning } from '../../terminal/terminal.ts';
import { type Batch, type BatchOptions, runBatch } from './batch.ts';
import { eachRow } from './csv-rows.ts';
import { textOf } from './each-code.ts';
import { eachLine } from './lines.ts';
import {
  CONVERT_TO_UTF8,
  fieldOfName,
  type Generated,
  generateFrom,
  isGarbled,
  missingFields,
  type PersonRecord,
  placeLabel,
  type RecordField,
  recordOfJson,
} from './person-record.ts';
import type { Rules } from './rules.ts';
import { openSource } from './stream-source.ts';

export type GenerateInput = BatchOptions & {
  readonly input: string | undefined;
  readonly name: string | undefined;
  readonly surname: string | undefined;
  readonly gender: string | undefined;
  readonly date: string | undefined;
  readonly city: string | undefined;
  readonly province: string | undefined;
  readonly noName: boolean;
  readonly noSurname: boolean;
  readonly append?: boolean | undefined;
  readonly csv: boolean;
  readonly ndjson: boolean;
  readonly delimiter: string | undefined;
};

const FLAGS = ['name', 'surname', 'gender', 'date', 'city', 'province'] as const;

/** A person's data in JSON: more is no person. */
const MAX_PERSON_BYTES = 1024 * 1024;

/** @throws CliError (usage) for options that contradict each other */
export function isManyPeople(input: GenerateInput): boolean {
  if (input.input !== undefined && input.input !== '-') {
    throw usageError('people come by options, or from stdin with -');
  }
  const isStreamed = input.input === '-' || input.file !== undefined;
  if (input.csv && input.ndjson)
    throw usageError('--csv and --ndjson exclude each other', 'give the one that the input is');
  if (isStreamed && (input.noName || input.noSurname || FLAGS.some((flag) => input[flag] !== undefined))) {
    throw usageError('people come by options or from a stream, not both');
  }
  if (input.input === '-' && input.file !== undefined) {
    throw usageError('people come from stdin or --file, not both', 'leave - or --file out');
  }
  const isMany = formatOf(input) !== 'json' && (isStreamed || input.csv || input.ndjson);
  if (input.append === true && (!isMany || formatOf(input) !== 'csv')) {
    throw usageError('--append is for people in CSV', 'add - and --csv, or --file with a .csv');
  }
  if (!isMany && input.rejects !== undefined) {
    throw usageError('--rejects is for many people', 'add - and --csv or --ndjson');
  }
  return isMany;
}

/** The code of one person, from options, questions or JSON. */
export async function generateOne(context: Context, input: GenerateInput, rules: Rules): Promise<Result> {
  const isStreamed = input.input === '-' || input.file !== undefined;
  const given = isStreamed
    ? await readPersonJson(context, input.file)
    : await personOfOptions(context, input, rules);
  const generated = await generateOrAsk(context, given, rules);
  if (!generated.ok) throw badPerson(generated, isStreamed);
  for (const warning of generated.warnings) printWarning(context.terminal, WARNINGS[warning] ?? warning);
  return text(generated.cf, {
    response: { cf: generated.cf },
    notes: [`Birthplace: ${placeLabel(generated.place)}.`],
  });
}

/** A code a line for each person without faults, in order. */
export async function generateMany(context: Context, input: GenerateInput, rules: Rules): Promise<Result> {
  const { json } = context.terminal;
  const write = (batch: Batch, record: PersonRecord, where: Where): void => {
    const generated = generateFrom(record, { ...rules, suggest: false });
    if (!generated.ok) {
      const fields = Object.keys(generated.errors).join(',');
      batch.reportBad({ ...where, reason: fields, message: Object.values(generated.errors).join('; ') });
      return;
    }
    batch.out.text(json === undefined ? `${generated.cf}\n` : `${JSON.stringify({ cf: generated.cf })}\n`);
    batch.countGood();
  };
  if (input.append === true) {
    const { appendCodes } = await import('./append-codes.ts');
    return appendCodes(context, input, rules);
  }
  const isCsv = formatOf(input) === 'csv';
  return runBatch(context, input, (batch, source) =>
    isCsv
      ? eachCsvPerson(batch, source.chunks, input.delimiter, write)
      : eachJsonPerson(batch, source.chunks, write),
  );
}

export type Where = { readonly line: number; readonly input: () => string };
export type Write = (batch: Batch, record: PersonRecord, where: Where) => void;

export async function eachCsvPerson(
  batch: Batch,
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string | undefined,
  write: Write,
): Promise<void> {
  let fields: readonly (RecordField | undefined)[] = [];
  await eachRow(chunks, delimiter, {
    header: (names) => {
      fields = readHeader(names);
    },
    visit: ({ cells, line, input }) => {
      const record: { [Field in RecordField]?: string } = {};
      fields.forEach((field, index) => {
        if (field !== undefined) record[field] = cells[index] ?? '';
      });
      write(batch, record, { line, input });
    },
    visitBroken: (line, message, input) =>
      batch.reportBad({ line, reason: 'csv', message, input: () => input }),
    afterRows: batch.pause,
  });
}

export function readHeader(names: readonly string[]): readonly (RecordField | undefined)[] {
  const fields = names.map(fieldOfName);
  const missing = missingFields(new Set(fields));
  if (missing.length === 0) return fields;
  if (names.some(isGarbled)) throw usageError('the first row is not UTF-8', CONVERT_TO_UTF8);
  // What the first row has instead may be a person: it is not shown.
  throw usageError(
    `the first row names no column for ${missing.join(', ')}`,
    'columns: name, surname, gender, birthday (or day, month, year), city and, if need be, province; Italian names will do',
  );
}

export async function eachJsonPerson(
  batch: Batch,
  chunks: AsyncIterable<Uint8Array>,
  write: Write,
): Promise<void> {
  await eachLine(chunks, MAX_PERSON_BYTES, {
    visit: (bytes, start, end, line) => {
      const lineText = textOf(bytes, start, end);
      const record = parsePerson(lineText);
      const where = { line, input: () => lineText };
      if (record !== undefined) write(batch, record, where);
      else batch.reportBad({ ...where, reason: 'json', message: 'the line is no JSON object' });
    },
    visitTooLong: (line) =>
      batch.reportBad({
        line,
        reason: 'json',
        message: `more than ${MAX_PERSON_BYTES} bytes without a line end`,
        input: () => '',
      }),
    afterChunk: batch.pause,
  });
}

function parsePerson(json: string): PersonRecord | undefined {
  try {
    return recordOfJson(JSON.parse(json));
  } catch {
    // Told as a bad line; the parser's message would quote the person.
    return undefined;
  }
}

/** By option, else by the file's name. */
export function formatOf({ csv, ndjson, file = '' }: GenerateInput): 'csv' | 'ndjson' | 'json' {
  if (csv || (!ndjson && /\.(csv|tsv)$/i.test(file))) return 'csv';
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
  const person = parsePerson(
    Buffer.concat(chunks)
      .toString('utf8')
      .replace(/^\ufeff/, ''),
  );
  if (person !== undefined) return person;
  throw usageError('the input is not one JSON object', 'for many people add --csv or --ndjson');
}

export async function personOfOptions(
  context: Context,
  input: GenerateInput,
  rules: Rules,
): Promise<PersonRecord> {
  const given: PersonRecord = {
    ...Object.fromEntries(
      FLAGS.filter((flag) => input[flag] !== undefined).map((flag) => [flag, input[flag]]),
    ),
    ...(input.noName ? { name: '', noName: true } : {}),
    ...(input.noSurname ? { surname: '', noSurname: true } : {}),
  };
  const missing = FLAGS.filter((flag) => flag !== 'province' && given[flag] === undefined);
  if (missing.length === 0) return given;
  if (!context.prompter.isInteractive) {
    const names = missing.map((flag) => `--${flag}`).join(', ');
    throw usageError(
      `missing ${names}`,
      'give them, or - to read the person from stdin; see: rtc cf generate --help',
    );
  }
  const { askForMissing } = await import('./ask-person.ts');
  return askForMissing(context.prompter, given, rules);
}

/** Which of several places is asked on a terminal, if nothing else is wrong. */
async function generateOrAsk(context: Context, person: PersonRecord, rules: Rules): Promise<Generated> {
  const generated = generateFrom(person, rules);
  if (generated.ok || generated.candidates.length === 0 || !context.prompter.isInteractive) return generated;
  if (Object.keys(generated.errors).length > 1) return generated;
  const { askWhichPlace } = await import('./ask-person.ts');
  const city = await askWhichPlace(context.prompter, generated.candidates);
  return generateFrom({ ...person, city }, rules);
}

function badPerson(generated: Exclude<Generated, { readonly ok: true }>, isStreamed: boolean): CliError {
  const { errors, candidates, suggestions } = generated;
  const lines = Object.entries(errors).map(([field, error]) => `${isStreamed ? '' : '--'}${field}: ${error}`);
  const places = [...candidates, ...suggestions].map((place) => escapeForTerminal(`  ${placeLabel(place)}`));
  return new CliError(EXIT.usage, 'these data make no code', nextFor(generated), {
    details: [...lines, ...places],
  });
}

function nextFor({ errors, candidates, suggestions }: Exclude<Generated, { readonly ok: true }>): string {
  if (candidates.length > 0) return 'add the province, or give the Belfiore code as the city';
  if (suggestions.length > 0) return 'one of these places may be meant; a Belfiore code is always clear';
  const isPlaceAlone = Object.keys(errors).every((field) => field === 'city' || field === 'province');
  return isPlaceAlone ? 'see which places there are: rtc it cities RM' : SEE_HELP;
}

const WARNINGS: Readonly<Record<string, string>> = {
  'place-not-in-force': 'the birthplace did not exist on the birth date; --strict refuses it',
  'place-ended': 'the birthplace had ended before the birth date: the code has the place that took it over',
  'names-after-comma': 'given names after a comma are not certified and were left out',
};
