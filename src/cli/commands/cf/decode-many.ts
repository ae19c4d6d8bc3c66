import { decodedAnswer } from '../../../contract/fiscal-answers.ts';
import { type CheckFailure, decode, omocodie } from '../../../fiscal/index.ts';
import type { Context } from '../../framework/context.ts';
import { select } from '../../terminal/output.ts';
import type { Result } from '../../terminal/result.ts';
import { type Batch, type BatchOptions, runBatch } from './batch.ts';
import { decodedLine } from './decode-codes.ts';
import { eachCode } from './each-code.ts';
import type { Rules } from './rules.ts';

type ManyOptions = BatchOptions & {
  readonly column: string | undefined;
  readonly delimiter: string | undefined;
};

/** A line for each valid code, in order: seven columns, or the API's answer. */
export async function decodeMany(
  context: Context,
  options: ManyOptions & { readonly details: boolean },
  rules: Rules,
): Promise<Result> {
  const { json } = context.terminal;
  const { details: withDetails } = options;
  const lineOf = (code: string): string | CheckFailure => {
    const decoded = decode(code, rules);
    if (!decoded.ok) return decoded;
    const response = decodedAnswer(decoded, { withDetails });
    if (json === undefined) return decodedLine(response);
    return JSON.stringify(json === 'everything' ? response : select(response, json));
  };
  return lineForEach(context, options, lineOf);
}

/** A line for each valid code, in order: its 127 other forms. */
export async function omocodieMany(context: Context, options: ManyOptions, rules: Rules): Promise<Result> {
  const { json } = context.terminal;
  return lineForEach(context, options, (code) => {
    const found = omocodie(code, rules);
    if (!found.ok) return found;
    return json === undefined ? found.omocodie.join('\t') : JSON.stringify(found.omocodie);
  });
}

async function lineForEach(
  context: Context,
  options: ManyOptions,
  lineOf: (code: string) => string | CheckFailure,
): Promise<Result> {
  return runBatch(context, { ...options, linesAreCodes: options.column === undefined }, (batch, source) =>
    eachCode(batch, source, options, {
      visitText: (code, line, input) => writeLine(batch, lineOf(code), { line, input }),
    }),
  );
}

function writeLine(
  batch: Batch,
  found: string | CheckFailure,
  where: { readonly line: number; readonly input: () => string },
): void {
  if (typeof found === 'string') {
    batch.out.text(`${found}\n`);
    batch.countGood();
  } else {
    batch.reportBad({ ...where, reason: found.reason, message: found.message });
  }
}
