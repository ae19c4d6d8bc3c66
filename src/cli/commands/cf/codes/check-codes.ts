import type { Validity } from '../../../../contract/fiscal-codes.ts';
import {
  type CheckResult,
  check,
  type Language,
  messages,
  translateFailure,
} from '../../../../fiscal/index.ts';
import { type Accepted, validityResponse } from '../../../../people/fiscal-responses.ts';
import type { Rules } from '../../../../people/person-record.ts';
import { EXIT } from '../../../errors/cli-error.ts';
import { list, nothing, type Result, record } from '../../../terminal/result.ts';
import { escapeCell, escapeForTerminal, printStatus, type Terminal } from '../../../terminal/terminal.ts';
import { TEXTS } from '../texts.ts';
import { markedCode } from './marked-code.ts';

export const CHECK_FIELDS = ['cf', 'valid', 'kind', 'reason', 'faults', 'warnings'] as const;

/**
 * Checks a few codes: on a terminal with the errors marked under each code, elsewhere with a line of three columns each,
 * and what is wrong on stderr.
 */
export function checkCodes(
  terminal: Terminal,
  codes: readonly string[],
  { accept, ...rules }: CheckRules,
): Result {
  const checked = codes.map((code) => {
    const checked = check(code, rules);
    const result = checked.ok ? checked : translateFailure(checked, rules.language);
    return { code, result, verdict: validityResponse(result, { withDetails: true, accept }) };
  });
  const exitCode = checked.every(({ verdict }) => verdict.valid) ? EXIT.success : EXIT.negative;
  if (terminal.json !== undefined) return { ...asJson(checked), exitCode };
  const lines = checked.flatMap((each) =>
    terminal.isTerminal ? shown(terminal, each, rules.language) : [verdictLine(each, terminal)],
  );
  if (!terminal.isTerminal) explainOnStderr(terminal, checked);
  // Not a text result, because its colours would be shown as escapes. markedCode has escaped the typed text.
  terminal.io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return nothing({ exitCode });
}

function explainOnStderr(terminal: Terminal, checked: readonly Checked[]): void {
  checked.forEach(({ result, verdict }, index) => {
    if (!result.ok && !verdict.valid)
      printStatus(terminal, `code ${index + 1}: ${result.reason}: ${result.message}`);
  });
}

/** Code, `valid` or `invalid`, and the reason or warnings; the same when many codes are read. */
export function verdictLine({ code, verdict }: Verdict, { isTerminal }: Terminal): string {
  const shown = isTerminal ? escapeForTerminal(code) : escapeCell(code);
  return verdict.valid
    ? `${shown}\tvalid\t${notesOn(verdict).join(',')}`
    : `${shown}\tinvalid\t${verdict.reason ?? ''}`;
}

/** The rules for checking codes, and the kinds of codes that count as valid. */
export type CheckRules = Rules & { readonly accept: Accepted };

export type Verdict = { readonly code: string; readonly verdict: Validity };
type Checked = Verdict & { readonly result: CheckResult };

/** The kind of a code that is not a person's, and the warnings. */
function notesOn({ kind, warnings = [] }: Validity): readonly string[] {
  return kind === null || kind === 'person' ? warnings : [kind, ...warnings];
}

function asJson(checked: readonly Checked[]): Result {
  const records = checked.map(({ code, verdict }) => ({ cf: code, ...verdict }));
  const [only, ...others] = records;
  return only !== undefined && others.length === 0
    ? record(only, [])
    : list({ response: records, records, columns: [], identify: ({ cf }) => cf, empty: '' });
}

function shown(
  { palette }: Terminal,
  { code, result, verdict }: Checked,
  language: Language,
): readonly string[] {
  const { valid, invalid } = TEXTS[language];
  if (!result.ok && !verdict.valid) {
    const [line = '', ...marks] = markedCode(code, result.faults, language);
    const reason = language === 'it' ? messages.it.checkReasons[result.reason] : result.reason;
    return [`${line}  ${palette.bad(`${invalid}: ${reason}`)}`, ...marks.map((mark) => palette.bad(mark))];
  }
  const notes = notesOn(verdict).map((note) => `  ${palette.warning(describeNote(note, language))}`);
  return [`${code}  ${palette.good(valid)}${notes.join('')}`];
}

function describeNote(note: string, language: Language): string {
  const { kinds, warnings } = messages.it;
  const words: Readonly<Record<string, string>> = { ...kinds, ...warnings };
  return language === 'it' ? (words[note] ?? note) : note;
}
