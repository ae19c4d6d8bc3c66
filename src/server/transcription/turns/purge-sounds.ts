import type { TurnStores } from './store.ts';

/** Retention of audio whose recording is not transcribed. */
const RETENTION_MS = 7 * 86_400_000;
/**
 * Parts of one deletion. Each part has some 40 kB; the number is small, so that on SQLite other writers get their turns.
 */
const BATCH = 100;

type PurgeBatch = { readonly now: number; readonly limit: number };

/** Deletes audio of tracks that was transcribed or is too old. Returns the number of deleted parts. */
export function purgeSounds(
  { turns }: Pick<TurnStores, 'turns'>,
  { now, limit }: PurgeBatch,
): Promise<number> {
  return turns.purgeSounds({ before: now - RETENTION_MS, limit: Math.min(limit, BATCH) });
}

/** Deletes all audio that purgeSounds may delete, in batches. */
export async function purgeAllSounds(store: Pick<TurnStores, 'turns'>, now: number): Promise<void> {
  while ((await purgeSounds(store, { now, limit: BATCH })) > 0);
}
