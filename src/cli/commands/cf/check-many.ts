import { validityAnswer } from '../../../contract/fiscal-answers.ts';
import { CHECK_STATUS, type CheckResult, createChecker } from '../../../fiscal/index.ts';
import type { Context } from '../../framework/context.ts';
import { jsonLine, select } from '../../terminal/output.ts';
import type { Result } from '../../terminal/result.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type BatchOptions, runBatch } from './batch.ts';
import { verdictLine } from './check-codes.ts';
import { eachCode, textOf } from './each-code.ts';
import type { Rules } from './rules.ts';

type ManyOptions = BatchOptions & {
  readonly column: string | undefined;
  readonly delimiter: string | undefined;
};

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const VALID_LINE_END = encode('\tvalid\t\n');
/** As JSON.stringify writes it: a valid code needs no escapes. */
const VALID_JSON_END = encode('","valid":true,"warnings":[]}\n');

/** A verdict for each line, in order; the same three columns as for a few codes, or a JSON object. */
export async function checkMany(context: Context, options: ManyOptions, rules: Rules): Promise<Result> {
  const { terminal } = context;
  const { json } = terminal;
  const { check, checkBytes } = createChecker(rules);
  return runBatch(context, options, async (batch, source) => {
    const { out } = batch;
    const visitText = (code: string, line: number, input: () => string): void => {
      const result = check(code);
      out.text(`${lineOf(terminal, { code, line, result })}\n`);
      if (result.ok) batch.countGood();
      else batch.reportBad({ line, reason: result.reason, message: result.message, input });
    };
    // The fast lane: nearly all codes of a real list are valid, and none of them becomes a string.
    const visitBytes = (bytes: Uint8Array, start: number, end: number, line: number): void => {
      const isPlain = checkBytes(bytes, start, end) === CHECK_STATUS.valid;
      if (!isPlain || Array.isArray(json)) {
        const code = textOf(bytes, start, end);
        visitText(code, line, () => code);
        return;
      }
      const lineEnd = json === undefined ? VALID_LINE_END : VALID_JSON_END;
      if (json !== undefined) out.text(`{"line":${line},"cf":"`);
      out.bytes(bytes, start, end);
      out.bytes(lineEnd, 0, lineEnd.length);
      batch.countGood();
    };
    await eachCode(batch, source, options, { visitText, visitBytes });
  });
}

type Verdict = { readonly code: string; readonly line: number; readonly result: CheckResult };

function lineOf(terminal: Terminal, { code: cf, line, result }: Verdict): string {
  const { json } = terminal;
  if (json === undefined) return verdictLine(cf, result, terminal);
  const response = { line, cf, ...validityAnswer(result, { withDetails: true }) };
  return jsonLine(terminal, json === 'everything' ? response : select(response, json));
}
