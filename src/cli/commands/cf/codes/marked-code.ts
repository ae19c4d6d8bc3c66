import { escapeForTerminal } from '../../../terminal/escape-for-terminal.ts';

type Fault = {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly expected?: string;
};

/** A longer text is no code that anybody could look at. */
const MAX_SHOWN = 64;

/** The code on a line, and below it each fault under the characters that are at fault. */
export function markedCode(code: string, faults: readonly Fault[]): readonly string[] {
  if (code.length > MAX_SHOWN) return faults.map((fault) => `${explained(fault)} (too long to show)`);
  return [escapeForTerminal(code), ...faults.map((fault) => mark(code, fault))];
}

function mark(code: string, fault: Fault): string {
  // Escapes take more columns than the characters that they stand for.
  const before = escapeForTerminal(code.slice(0, fault.start)).length;
  const length = escapeForTerminal(code.slice(fault.start, fault.end)).length;
  return `${' '.repeat(before)}${'^'.repeat(Math.max(1, length))} ${explained(fault)}`;
}

function explained({ message, expected }: Fault): string {
  return expected === undefined ? message : `${message}: ${expected} would`;
}
