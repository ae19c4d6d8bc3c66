import type { TurnStores } from './store.ts';

/** Sound of recordings that nobody transcribes is kept for this long. */
const KEPT_MS = 7 * 86_400_000;
/** Each part has some 40 kB. Small, so that on SQLite others get their turns to write. */
const BATCH = 100;

type PurgeBatch = { readonly now: number; readonly limit: number };

/** Deletes sound of tracks that was transcribed, or is too old. Returns how many parts it deleted. */
export function purgeSounds(
  { turns }: Pick<TurnStores, 'turns'>,
  { now, limit }: PurgeBatch,
): Promise<number> {
  return turns.purgeSounds({ before: now - KEPT_MS, limit: Math.min(limit, BATCH) });
}

/** Deletes all of it. */
export async function purgeAllSounds(store: Pick<TurnStores, 'turns'>, now: number): Promise<void> {
  while ((await purgeSounds(store, { now, limit: BATCH })) > 0);
}
