import type { MatchResponse } from '../../../../contract/fiscal-codes.ts';
import { messages } from '../../../../fiscal/index.ts';
import { matchFrom, type Rules } from '../../../../people/person-record.ts';
import { bilingualError, CliError, EXIT } from '../../../errors/cli-error.ts';
import type { Context } from '../../../framework/context.ts';
import { translateHeadings } from '../../../framework/language.ts';
import { jsonLine, select } from '../../../terminal/output.ts';
import { type Column, list, type Result } from '../../../terminal/result.ts';
import { TEXTS } from '../texts.ts';
import { eachPerson } from './each-person.ts';
import { toFault } from './faults.ts';
import { knownOfOptions, type PeopleInput, readPersonJson } from './person-input.ts';

type MatchInput = PeopleInput & { readonly code: string | undefined };
type Part = MatchResponse['parts'][number];
/** A compared part, or one that was skipped. */
type Line = Pick<Part, 'part'> & Partial<Part>;

/** Compares one code with what is known of one person, part by part. */
export async function matchOne(context: Context, input: MatchInput, rules: Rules): Promise<Result> {
  const isStreamed = input.input === '-' || input.file !== undefined;
  const record = isStreamed
    ? await readPersonJson(context, input.file)
    : { ...(await knownOfOptions(context, input, rules)), cf: readCode(input) };
  const matched = matchFrom(record, rules);
  if (!matched.ok) {
    const texts = TEXTS[rules.language];
    const lines = Object.entries(matched.errors).map(([field, { message }]) => `${field}: ${message}`);
    const isCodeWrong = matched.errors.cf !== undefined;
    const exitCode = isCodeWrong ? EXIT.negative : EXIT.usage;
    throw new CliError(exitCode, isCodeWrong ? texts.invalidCode : texts.noCode, {
      next: texts.compareWithCard,
      details: lines,
    });
  }
  const { response } = matched;
  return list<Line>({
    response,
    records: [...response.parts, ...response.skipped.map((part) => ({ part }))],
    notes: [messages[rules.language].extents[response.compared]],
    columns: translateHeadings(matchColumns(context, rules), rules.language),
    identify: ({ part }) => part,
    empty: '',
    exitCode: response.matches ? EXIT.success : EXIT.negative,
  });
}

/** A terminal gets words of the language, anything else those that scripts compare. */
function matchColumns({ terminal }: Context, { language }: Rules): readonly Column<Line>[] {
  const { yes, no, skipped, fields } = TEXTS[terminal.isTerminal ? language : 'en'];
  return [
    { heading: 'PART', value: ({ part }) => fields[part] ?? part, paint: 'name' },
    { heading: 'MATCHES', value: ({ matches }) => (matches === undefined ? skipped : matches ? yes : no) },
    { heading: 'EXPECTED', value: ({ expected }) => expected },
    { heading: 'FOUND', value: ({ found }) => found },
  ];
}

/**
 * Prints a line for each code: the code, yes or no, the different parts, and the skipped ones if there are any; or every row
 * again with the differences.
 */
export async function matchMany(context: Context, input: MatchInput, rules: Rules): Promise<Result> {
  const batchRules: Rules = { ...rules, suggest: false };
  if (input.append) {
    const { appendMatches } = await import('../append.ts');
    return appendMatches(context, input, batchRules);
  }
  const { terminal } = context;
  const { json } = terminal;
  const texts = TEXTS[rules.language];
  return eachPerson(context, { ...input, rules, purpose: 'match' }, (batch, record, where) => {
    const matched = matchFrom(record, batchRules);
    if (!matched.ok) {
      batch.reportBad({ ...where, ...toFault(matched.errors, rules) });
      return;
    }
    const { response } = matched;
    const differing = response.parts.filter(({ matches }) => !matches).map(({ part }) => part);
    const { skipped } = response;
    const verdict = [String(record.cf), response.matches ? 'yes' : 'no', differing.join(',')];
    const cells = skipped.length === 0 ? verdict : [...verdict, skipped.join(',')];
    const shown = json === 'everything' || json === undefined ? response : select(response, json);
    batch.out.text(`${json === undefined ? cells.join('\t') : jsonLine(terminal, shown)}\n`);
    if (response.matches) {
      batch.countGood();
      return;
    }
    const labels = differing.map((part) => `${texts.fields[part] ?? part}: ${texts.reasons.differs ?? ''}`);
    batch.reportBad({ ...where, reason: differing.join(','), message: texts.notOfPerson, labels });
  });
}

function readCode({ code }: MatchInput): string {
  if (code !== undefined) return code;
  throw bilingualError(
    ['missing CODE', 'give the code, or - to read code and person from stdin'],
    ['manca il codice fiscale', 'indicarlo, oppure - per leggere codice e persona da stdin'],
  );
}
