import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Figure, type Result, rangeInWords } from './part.ts';

const root = join(import.meta.dirname, '..');

/** Results of this machine. */
const CACHE = join(root, '.cache', 'proof');

/** Results that docs/proof.md is written from. */
const LANDED = join(import.meta.dirname, 'landed.json');

/** Results by the name of their part. */
export type Results = Readonly<Record<string, Landed>>;

export async function cachedResult(part: string): Promise<Result | undefined> {
  return (await readJson(join(CACHE, `${part}.json`))) as Result | undefined;
}

export async function cacheResult(result: Result): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  await writeFile(join(CACHE, `${result.part}.json`), json(result));
}

export async function landedResults(): Promise<Results> {
  return ((await readJson(LANDED)) ?? {}) as Results;
}

export async function landResults(results: Results): Promise<void> {
  const sorted = Object.entries(results).toSorted(([one], [other]) => one.localeCompare(other));
  await writeFile(LANDED, json(Object.fromEntries(sorted)));
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

/** An earlier run of a part, kept for the spread. */
type EarlierRun = {
  readonly endedAt: string;
  readonly load: Result['load'];
  /** Values by the names of their figures. */
  readonly values: Readonly<Record<string, number>>;
};

/** The last run of a part, and earlier runs on the same machine. */
export type Landed = Result & { readonly earlier?: readonly EarlierRun[] };

/** Number of runs that the spread is computed from, including the last one. */
const MAX_RUNS = 5;

/**
 * Puts a new run in front of the landed ones. Drops runs on another machine, because they are not comparable. A result that
 * is older than the landed one, such as one that a folder still has in its cache, changes nothing.
 */
export function landRun(landed: Landed | undefined, result: Result): Landed {
  if (landed === undefined || landed.machine !== result.machine) return result;
  if (result.endedAt < landed.endedAt) return landed;
  if (landed.endedAt === result.endedAt) return withEarlier(result, landed.earlier ?? []);
  return withEarlier(result, [toEarlier(landed), ...(landed.earlier ?? [])]);
}

function withEarlier(result: Result, earlier: readonly EarlierRun[]): Landed {
  return earlier.length === 0 ? result : { ...result, earlier: earlier.slice(0, MAX_RUNS - 1) };
}

function toEarlier({ endedAt, load, figures }: Result): EarlierRun {
  const values = figures.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return { endedAt, load, values: Object.fromEntries(values) };
}

/** Returns the figures of the last run, each with its spread over all runs, unless it has a spread of its own. */
export function figuresWithSpread({ figures, earlier = [] }: Landed): readonly Figure[] {
  return figures.map((figure) => {
    const { name, value, unit } = figure;
    if (figure.spread !== undefined || value === undefined) return figure;
    const before = earlier.flatMap(({ values }) => values[name] ?? []);
    return before.length === 0 ? figure : { ...figure, spread: rangeInWords([value, ...before], unit) };
  });
}
