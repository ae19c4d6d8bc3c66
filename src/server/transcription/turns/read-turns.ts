import type { Clock } from '../../platform/clock.ts';
import type { Turn, TurnStores } from './store.ts';

export type ReadTurnsDeps = { readonly store: Pick<TurnStores, 'turns'>; readonly clock: Clock };

const POLL_INTERVAL_MS = 250;

/**
 * Reads the turns of a recording that has ended. Waits while a worker still stores the last turns, at most until the end of
 * its lease if it has died. Rejects when the signal is aborted.
 */
export async function readTurns(
  { store, clock }: ReadTurnsDeps,
  recordingId: string,
  signal: AbortSignal,
): Promise<readonly Turn[]> {
  while (await store.turns.isListening(recordingId, clock.now())) {
    await clock.sleep(POLL_INTERVAL_MS, signal);
  }
  return await store.turns.listTurns(recordingId);
}
