import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HintedError } from '../../../contract/hint.ts';

/*
 * `models.lock` records the models that were installed without a published SHA-256: the SHA-256 of the accepted files, by
 * name. Every later installation of that name, here or wherever the file is copied, must have the same SHA-256.
 */

const FILE = 'models.lock';

type Lock = Readonly<Record<string, string>>;

export async function lockedDigest(folder: string, name: string): Promise<string | undefined> {
  return (await readLock(folder))[name];
}

export async function lockDigest(folder: string, name: string, sha256: string): Promise<void> {
  const lock = { ...(await readLock(folder)), [name]: sha256 };
  const sorted = Object.fromEntries(
    Object.entries(lock).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
  const aside = join(folder, `.${FILE}.${process.pid}`);
  await writeFile(aside, `${JSON.stringify(sorted, null, 2)}\n`);
  await rename(aside, join(folder, FILE));
}

async function readLock(folder: string): Promise<Lock> {
  const path = join(folder, FILE);
  const text = await readFile(path, 'utf8').catch(() => '{}');
  try {
    return toLock(JSON.parse(text));
  } catch (cause) {
    throw new HintedError(
      `${path} is not valid`,
      { text: 'correct it, or remove it to accept other files' },
      { cause },
    );
  }
}

function toLock(value: unknown): Lock {
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  const entries = Object.entries(value).map(([name, digest]) => {
    if (typeof digest !== 'string') throw new Error(`${name} has no digest`);
    return [name, digest] as const;
  });
  return Object.fromEntries(entries);
}
