import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Result } from './experiment.ts';
import { type Figures, rangeInWords } from './figures.ts';

/** Results that docs/proof.md and the pages of docs/proof are written from. */
const RECORDED = join(import.meta.dirname, 'results.json');

/** Results by the name of their experiment. */
export type Results = Readonly<Record<string, RecordedResult>>;

export async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(RECORDED, 'utf8')) as Results;
}

export async function writeResults(results: Results): Promise<void> {
  const sorted = Object.entries(results).toSorted(([one], [other]) => one.localeCompare(other));
  await writeFile(RECORDED, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
}

/** An earlier run of an experiment, kept for the spread. */
type EarlierRun = {
  readonly endedAt: string;
  readonly load: Result['load'];
  /** Values by the names of their figures. */
  readonly values: Readonly<Record<string, number>>;
};

/** The last run of an experiment, and earlier runs on the same machine. */
export type RecordedResult = Result & { readonly earlier?: readonly EarlierRun[] };

/** Number of runs that the spread is computed from, including the last one. */
const MAX_RUNS = 5;

/** Puts a new run in front of the recorded ones. Drops runs on another machine, because they are not comparable. */
export function recordRun(recorded: RecordedResult | undefined, result: Result): RecordedResult {
  if (recorded === undefined || recorded.machine !== result.machine) return result;
  return { ...result, earlier: [toEarlier(recorded), ...(recorded.earlier ?? [])].slice(0, MAX_RUNS - 1) };
}

function toEarlier({ endedAt, load, figures }: Result): EarlierRun {
  const values = figures.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return { endedAt, load, values: Object.fromEntries(values) };
}

/** Returns the figures of the last run, each with its spread over all runs, unless it has a spread of its own. */
export function figuresWithSpread({ figures, earlier = [] }: RecordedResult): Figures {
  return figures.map((figure) => {
    const { name, value, unit } = figure;
    if (figure.spread !== undefined || value === undefined) return figure;
    const before = earlier.flatMap(({ values }) => values[name] ?? []);
    return before.length === 0 ? figure : { ...figure, spread: rangeInWords([value, ...before], unit) };
  });
}
