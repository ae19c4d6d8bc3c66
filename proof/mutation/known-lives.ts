import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** One line for each mutant that was run: its key, and whether it survived. An interrupted run continues from here. */
const FILE = join(import.meta.dirname, '..', '..', '.cache', 'proof', 'mutants.txt');

export type KnownLives = {
  readonly has: (key: string) => boolean;
  readonly hasSurvived: (key: string) => boolean;
  readonly add: (key: string, hasSurvived: boolean) => Promise<void>;
};

export async function openKnownLives(file = FILE): Promise<KnownLives> {
  await mkdir(dirname(file), { recursive: true });
  const text = await readFile(file, { encoding: 'utf8', flag: 'a+' });
  const lives = new Map(
    [...text.matchAll(/^(\w+) (survived|died)$/gm)].map(([, key = '', end]) => [key, end === 'survived']),
  );
  return {
    has: (key) => lives.has(key),
    hasSurvived: (key) => lives.get(key) ?? false,
    add: async (key, hasSurvived) => {
      lives.set(key, hasSurvived);
      await appendFile(file, `${key} ${hasSurvived ? 'survived' : 'died'}\n`);
    },
  };
}
