import { validityResponse } from '../../../../contract/fiscal-responses.ts';
import { CHECK_STATUS, createChecker, messages, translateFailure } from '../../../../fiscal/index.ts';
import type { Context } from '../../../framework/context.ts';
import { jsonLine, select } from '../../../terminal/output.ts';
import type { Result } from '../../../terminal/result.ts';
import type { Terminal } from '../../../terminal/terminal.ts';
import type { ByteLine } from '../files/lines.ts';
import { type CheckRules, type Verdict, verdictLine } from './check-codes.ts';
import type { ManyCodes } from './code-column.ts';
import { eachCode, textOf } from './each-code.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const VALID_LINE_END = encode('\tvalid\t\n');
/** The end of the JSON of a valid code, which needs no escapes. */
const VALID_JSON_END = encode('","valid":true,"kind":"person","warnings":[]}\n');

/** Prints a verdict for each line, in order: the same three columns as for a few codes, or a JSON object. */
export function checkMany(
  context: Context,
  options: ManyCodes,
  { accept, ...rules }: CheckRules,
): Promise<Result> {
  const { terminal } = context;
  const { json } = terminal;
  const { checkReasons } = messages[rules.language];
  const { check, checkBytes } = createChecker(rules);
  return eachCode(context, options, (batch) => {
    const { out } = batch;
    const visitText = (code: string, line: number, input: () => string): void => {
      const checked = check(code);
      const result = checked.ok ? checked : translateFailure(checked, rules.language);
      const verdict = validityResponse(result, { withDetails: true, accept });
      out.text(`${lineOf(terminal, { code, line, verdict })}\n`);
      if (result.ok || verdict.valid) batch.countGood();
      else {
        const { reason, message } = result;
        batch.reportBad({ line, reason, message, labels: [`${reason}: ${checkReasons[reason]}`], input });
      }
    };
    // The fast path: nearly all codes of a real list are valid, and none of them becomes a string.
    const visitBytes = (line: ByteLine): void => {
      const { bytes, start, end, number } = line;
      const isPlain = checkBytes(bytes, start, end) === CHECK_STATUS.valid;
      if (!isPlain || Array.isArray(json)) {
        const code = textOf(line);
        visitText(code, number, () => code);
        return;
      }
      const lineEnd = json === undefined ? VALID_LINE_END : VALID_JSON_END;
      if (json !== undefined) out.text(`{"line":${number},"cf":"`);
      out.bytes(bytes, start, end);
      out.bytes(lineEnd, 0, lineEnd.length);
      batch.countGood();
    };
    return { visitText, visitBytes };
  });
}

function lineOf(terminal: Terminal, { code, line, verdict }: Verdict & { readonly line: number }): string {
  const { json } = terminal;
  if (json === undefined) return verdictLine({ code, verdict }, terminal);
  const response = { line, cf: code, ...verdict };
  return jsonLine(terminal, json === 'everything' ? response : select(response, json));
}
