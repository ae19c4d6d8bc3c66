import { decodedResponse } from '../../../../contract/fiscal-responses.ts';
import { type CheckFailure, decode, messages, omocodie } from '../../../../fiscal/index.ts';
import type { Rules } from '../../../../people/rules.ts';
import type { Context } from '../../../framework/context.ts';
import { select } from '../../../terminal/output.ts';
import type { Result } from '../../../terminal/result.ts';
import type { ManyCodes } from './code-column.ts';
import { decodedLine } from './decode-codes.ts';
import { eachCode } from './each-code.ts';

/** Prints a line for each valid code, in order: seven columns, or the response of the API. */
export function decodeMany(
  context: Context,
  options: ManyCodes & { readonly details: boolean },
  rules: Rules,
): Promise<Result> {
  const { json } = context.terminal;
  const { details: withDetails } = options;
  return lineForEach(context, options, (code) => {
    const decoded = decode(code, rules);
    if (!decoded.ok) return decoded;
    const response = decodedResponse(decoded, { withDetails });
    if (json === undefined) return decodedLine(response);
    return JSON.stringify(json === 'everything' ? response : select(response, json));
  });
}

/** Prints a line for each valid code, in order, with its 127 other forms. */
export function omocodieMany(context: Context, options: ManyCodes, rules: Rules): Promise<Result> {
  const { json } = context.terminal;
  return lineForEach(context, options, (code) => {
    const found = omocodie(code, rules);
    if (!found.ok) return found;
    return json === undefined ? found.omocodie.join('\t') : JSON.stringify(found.omocodie);
  });
}

function lineForEach(
  context: Context,
  options: ManyCodes,
  lineOf: (code: string) => string | CheckFailure,
): Promise<Result> {
  const { checkReasons, codeFault } = messages[options.language];
  return eachCode(context, options, (batch) => ({
    visitText: (code, line, input) => {
      const found = lineOf(code);
      if (typeof found === 'string') {
        batch.out.text(`${found}\n`);
        batch.countGood();
        return;
      }
      const { reason, faults } = found;
      const labels = [`${reason}: ${checkReasons[reason]}`];
      batch.reportBad({ line, reason, message: codeFault(faults[0]), labels, input });
    },
  }));
}
