import { validityAnswer } from '../../../contract/fiscal-answers.ts';
import { type CheckResult, check } from '../../../fiscal/index.ts';
import { EXIT } from '../../errors/cli-error.ts';
import { escapeCell, escapeForTerminal } from '../../terminal/escape-for-terminal.ts';
import { list, nothing, type Result, record } from '../../terminal/result.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { markedCode } from './marked-code.ts';
import type { Rules } from './rules.ts';

export const CHECK_FIELDS = ['cf', 'valid', 'reason', 'faults', 'warnings'] as const;

/** A few codes: on a terminal with what is wrong marked under each, elsewhere a line of three columns each. */
export function checkCodes(terminal: Terminal, codes: readonly string[], rules: Rules): Result {
  const checked = codes.map((code) => ({ code, result: check(code, rules) }));
  const exitCode = checked.every(({ result }) => result.ok) ? EXIT.success : EXIT.negative;
  if (terminal.json !== undefined) return { ...asJson(checked), exitCode };
  const lines = checked.flatMap(({ code, result }) =>
    terminal.isTerminal ? shown(terminal, code, result) : [verdictLine(code, result, terminal)],
  );
  // Not as a text result: its colours would be shown as escapes. markedCode has escaped what was typed.
  terminal.io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return nothing({ exitCode });
}

/** Code, `valid` or `invalid`, and why or what is odd; the same in a run over many. */
export function verdictLine(code: string, result: CheckResult, { isTerminal }: Terminal): string {
  const shown = isTerminal ? escapeForTerminal(code) : escapeCell(code);
  return result.ok ? `${shown}\tvalid\t${result.warnings.join(',')}` : `${shown}\tinvalid\t${result.reason}`;
}

type Checked = { readonly code: string; readonly result: CheckResult };

function asJson(checked: readonly Checked[]): Result {
  const records = checked.map(({ code, result }) => ({
    cf: code,
    ...validityAnswer(result, { withDetails: true }),
  }));
  const [only, ...others] = records;
  return only !== undefined && others.length === 0
    ? record({ response: only, record: only, columns: [] })
    : list({ response: records, records, columns: [], identify: ({ cf }) => cf, empty: '' });
}

function shown({ palette }: Terminal, code: string, result: CheckResult): readonly string[] {
  if (!result.ok) {
    const [line = '', ...marks] = markedCode(code, result.faults);
    return [
      `${line}  ${palette.bad(`invalid: ${result.reason}`)}`,
      ...marks.map((mark) => palette.bad(mark)),
    ];
  }
  const oddities = result.warnings.map((warning) => `  ${palette.warning(warning)}`);
  return [`${code}  ${palette.good('valid')}${oddities.join('')}`];
}
