import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Result } from './experiment.ts';
import { type Figures, rangeInWords } from './figures.ts';

const root = join(import.meta.dirname, '..');
/** Results of this machine. */
const CACHE = join(root, '.cache', 'proof');
/** Results that docs/proof.md and the pages of docs/proof are written from. */
const RECORDED = join(import.meta.dirname, 'results.json');

/** Results by the name of their experiment. */
export type Results = Readonly<Record<string, RecordedResult>>;

export async function cachedResult(experiment: string): Promise<Result | undefined> {
  return (await readJson(join(CACHE, `${experiment}.json`))) as Result | undefined;
}

export async function cacheResult(result: Result): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  await writeFile(join(CACHE, `${result.experiment}.json`), json(result));
}

export async function readResults(): Promise<Results> {
  return ((await readJson(RECORDED)) ?? {}) as Results;
}

export async function writeResults(results: Results): Promise<void> {
  const sorted = Object.entries(results).toSorted(([one], [other]) => one.localeCompare(other));
  await writeFile(RECORDED, json(Object.fromEntries(sorted)));
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
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

/**
 * Puts a new run in front of the recorded ones. Drops runs on another machine, because they are not comparable. A result that
 * is older than the recorded one, such as one that a folder still has in its cache, changes nothing.
 */
export function recordRun(recorded: RecordedResult | undefined, result: Result): RecordedResult {
  if (recorded === undefined || recorded.machine !== result.machine) return result;
  if (result.endedAt < recorded.endedAt) return recorded;
  if (recorded.endedAt === result.endedAt) return withEarlier(result, recorded.earlier ?? []);
  return withEarlier(result, [toEarlier(recorded), ...(recorded.earlier ?? [])]);
}

function withEarlier(result: Result, earlier: readonly EarlierRun[]): RecordedResult {
  return earlier.length === 0 ? result : { ...result, earlier: earlier.slice(0, MAX_RUNS - 1) };
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
