import type { Language } from '../../../../fiscal/index.ts';
import { escapeForTerminal } from '../../../terminal/terminal.ts';
import { TEXTS } from '../texts.ts';

type Fault = {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly expected?: string;
  readonly meant?: string;
};

/** Longer texts are not shown, because nobody could read them as a code. */
const MAX_SHOWN = 64;

/** Returns the code on a line, and below it each error under the wrong characters. */
export function markedCode(code: string, faults: readonly Fault[], language: Language): readonly string[] {
  if (code.length > MAX_SHOWN)
    return faults.map((fault) => `${explain(fault, language)} ${TEXTS[language].tooLongToShow}`);
  return [
    escapeForTerminal(code),
    ...faults.map((fault) => `${marks(code, fault)} ${explain(fault, language)}`),
  ];
}

function marks(code: string, fault: Fault): string {
  // Escapes take more columns than the escaped characters.
  const before = escapeForTerminal(code.slice(0, fault.start)).length;
  const length = escapeForTerminal(code.slice(fault.start, fault.end)).length;
  return `${' '.repeat(before)}${'^'.repeat(Math.max(1, length))}`;
}

function explain({ message, expected, meant }: Fault, language: Language): string {
  if (meant !== undefined) return `${message}: ${escapeForTerminal(meant)}`;
  return expected === undefined ? message : `${message}: ${TEXTS[language].wouldFit(expected)}`;
}
