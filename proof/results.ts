import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Landed } from './landed.ts';
import type { Result } from './part.ts';

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
