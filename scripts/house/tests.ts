import { Visitor } from 'oxc-parser';
import type { Figure } from './print-figures.ts';
import { round, type Source, sumLines } from './sources.ts';

const CLOCK = /\b(?:performance|Date)\.now\(\)|\bprocess\.hrtime\b/;

/** Matchers that set an upper limit for a value. */
const UPPER_BOUND = /^toBeLessThan(?:OrEqual)?$/;

/** A part of the text, by its offsets. */
type Span = { readonly start: number; readonly end: number };

export function measureTests(sources: readonly Source[], tests: readonly Source[]): readonly Figure[] {
  const found = tests.map((test) => ({ bounds: upperBounds(test), retries: retrySettings(test) }));
  return [
    {
      what: 'lines of test to lines of src',
      measured: round(sumLines(tests) / sumLines(sources), 2),
      atLeast: 0.9,
      method: 'both without src/fiscal/data',
    },
    {
      what: 'upper bounds on wall-clock time in tests',
      measured: found.reduce((sum, { bounds }) => sum + bounds, 0),
      atMost: 0,
      method: 'expect(x).toBeLessThan of an x that is computed from the clock of the process',
    },
    {
      what: 'tests with a retry setting',
      measured: found.reduce((sum, { retries }) => sum + retries, 0),
      atMost: 0,
      method: '`retry:` in the options of a test or of vitest',
    },
  ];
}

/** Counts assertions about an upper limit of time: those whose subject, or a part of it, reads the clock. */
function upperBounds(source: Source): number {
  const clockNames = namesFromClock(source);
  const isTime = (text: string): boolean =>
    CLOCK.test(text) || [...clockNames].some((name) => new RegExp(`\\b${name}\\b`).test(text));
  let bounds = 0;
  new Visitor({
    CallExpression({ callee }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      if (UPPER_BOUND.test(callee.property.name) && isTime(textOf(source, callee.object))) bounds += 1;
    },
  }).visit(source.program);
  return bounds;
}

/** Returns the names of differences between two readings of the clock in this file. */
function namesFromClock(source: Source): ReadonlySet<string> {
  const names = new Set<string>();
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type !== 'Identifier' || init === null) return;
      const text = textOf(source, init);
      if (CLOCK.test(text) && / - /.test(text) && !text.includes('=>')) names.add(id.name);
    },
  }).visit(source.program);
  return names;
}

function retrySettings(source: Source): number {
  let retries = 0;
  new Visitor({
    Property({ key }) {
      if (key.type === 'Identifier' && key.name === 'retry') retries += 1;
    },
  }).visit(source.program);
  return retries;
}

function textOf({ text }: Source, { start, end }: Span): string {
  return text.slice(start, end);
}
