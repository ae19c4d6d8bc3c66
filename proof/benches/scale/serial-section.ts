import type { Database } from '../webhooks/stage.ts';
import { newDelivery, newEvent, openBenchStore } from './bench-store.ts';

/** Milliseconds during which a transaction of events prevents the commit of all others. */
export type SerialSection = { readonly perTransactionMs: number; readonly perEventMs: number };

const CALLERS = 8;
const SECONDS = 4;
const LARGE = 250;

/**
 * Every transaction takes the positions of its events from one row, and locks the row until its commit is on disk. Callers
 * that do nothing else wait for each other at this row. Therefore the reciprocal of their rate is the time for which one
 * transaction holds the lock.
 */
export async function measureSerialSection(database: Database): Promise<SerialSection> {
  const store = await openBenchStore(database);
  const computeTime = async (size: number): Promise<number> => {
    const startedAt = performance.now();
    const until = startedAt + SECONDS * 1_000;
    let count = 0;
    const call = async (): Promise<void> => {
      while (performance.now() < until) {
        const events = Array.from({ length: size }, newEvent);
        const deliveries = events.map(({ id }) => newDelivery(id));
        await store.events.insertAll(events, deliveries);
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, call));
    return (performance.now() - startedAt) / count;
  };
  await computeTime(1);
  const one = await computeTime(1);
  const many = await computeTime(LARGE);
  await store.close();
  const perEventMs = (many - one) / (LARGE - 1);
  return { perEventMs, perTransactionMs: one - perEventMs };
}
