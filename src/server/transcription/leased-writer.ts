import type { Clock } from '../platform/clock.ts';
import { Batcher, type BatcherOptions } from '../platform/jobs/batcher.ts';
import type { Log } from '../platform/log.ts';

type LeasedWriterOptions<Item> = Pick<BatcherOptions<Item>, 'gather'> & {
  readonly clock: Clock;
  readonly log: Log;
  /** Fields of the log lines. */
  readonly fields: Readonly<Record<string, string>>;
  /** The log message when the items could not be stored. */
  readonly failure: string;
  /** Returns false when the store refuses the items: their owner was stopped, deleted or taken over by another worker. */
  readonly store: (items: readonly Item[]) => Promise<boolean>;
  /** Called once when the store refuses items. Items that wait, and later ones, are dropped. */
  readonly onRefused: () => void;
};

const RETRY_MS = 500;

/** Stores items in the order in which they are added. While the database is unavailable they wait in memory. */
export function createLeasedWriter<Item>(options: LeasedWriterOptions<Item>): Batcher<Item> {
  const { clock, log, fields, failure, store, onRefused, ...gathering } = options;
  const writer = new Batcher<Item>({
    ...gathering,
    maxSize: Number.POSITIVE_INFINITY,
    timer: clock,
    flush: async (items) => {
      if (await store(items)) return;
      writer.abandon();
      onRefused();
    },
    beforeRetry: async (error, waiting) => {
      log.warn({ ...fields, waiting, err: error }, failure);
      await clock.sleep(RETRY_MS);
    },
  });
  return writer;
}
