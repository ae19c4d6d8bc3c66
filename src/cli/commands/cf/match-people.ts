import type { MatchAnswer } from '../../../contract/fiscal-codes.ts';
import { CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { jsonLine, select } from '../../terminal/output.ts';
import { list, type Result } from '../../terminal/result.ts';
import { runBatch } from './batch.ts';
import {
  eachCsvPerson,
  eachJsonPerson,
  formatOf,
  type GenerateInput,
  personOfOptions,
  readPersonJson,
  type Write,
} from './generate.ts';
import { matchFrom } from './person-record.ts';
import type { Rules } from './rules.ts';

type MatchInput = GenerateInput & { readonly code: string | undefined };
type Part = MatchAnswer['parts'][number];

/** One code and one person, part by part. */
export async function matchOne(context: Context, input: MatchInput, rules: Rules): Promise<Result> {
  const isStreamed = input.input === '-' || input.file !== undefined;
  const record = isStreamed
    ? await readPersonJson(context, input.file)
    : { ...(await personOfOptions(context, input, rules)), cf: codeOf(input) };
  const matched = matchFrom(record, rules);
  if (!matched.ok) {
    const lines = Object.entries(matched.errors).map(([field, error]) => `${field}: ${error}`);
    const isCodeWrong = matched.errors.cf !== undefined;
    throw new CliError(
      isCodeWrong ? EXIT.negative : EXIT.usage,
      isCodeWrong ? 'that is not a valid codice fiscale' : 'these data make no code',
      'compare them with the card or document that they come from',
      { details: lines },
    );
  }
  const { answer } = matched;
  return list<Part>({
    response: answer,
    records: answer.parts,
    columns: [
      { heading: 'PART', value: ({ part }) => part, paint: 'name' },
      { heading: 'MATCHES', value: ({ matches }) => (matches ? 'yes' : 'no') },
      { heading: 'EXPECTED', value: ({ expected }) => expected },
      { heading: 'FOUND', value: ({ found }) => found },
    ],
    identify: ({ part }) => part,
    empty: '',
    exitCode: answer.matches ? EXIT.success : EXIT.negative,
  });
}

/** A line for each code: itself, yes or no, and the parts that differ. */
export async function matchMany(context: Context, input: MatchInput, rules: Rules): Promise<Result> {
  const { terminal } = context;
  const { json } = terminal;
  const write: Write = (batch, record, where) => {
    const matched = matchFrom(record, { ...rules, suggest: false });
    if (!matched.ok) {
      const reason = Object.keys(matched.errors).join(',');
      batch.reportBad({ ...where, reason, message: Object.values(matched.errors).join('; ') });
      return;
    }
    const { answer } = matched;
    const differing = answer.parts.filter(({ matches }) => !matches).map(({ part }) => part);
    const cells = [String(record.cf), answer.matches ? 'yes' : 'no', differing.join(',')];
    const shown = json === 'everything' || json === undefined ? answer : select(answer, json);
    batch.out.text(`${json === undefined ? cells.join('\t') : jsonLine(terminal, shown)}\n`);
    if (answer.matches) batch.countGood();
    else
      batch.reportBad({
        ...where,
        reason: differing.join(','),
        message: 'the code is not that of the person',
      });
  };
  return runBatch(context, input, (batch, source) =>
    formatOf(input) === 'csv'
      ? eachCsvPerson(batch, source.chunks, input.delimiter, write)
      : eachJsonPerson(batch, source.chunks, write),
  );
}

function codeOf({ code }: MatchInput): string {
  if (code !== undefined) return code;
  throw usageError('missing CODE', 'give the code, or - to read code and person from stdin');
}
