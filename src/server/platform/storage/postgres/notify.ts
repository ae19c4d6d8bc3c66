import type { Pool } from 'pg';
import { Batcher } from '../../jobs/batcher.ts';
import type { Log } from '../../log.ts';
import type { ChangeTopic } from '../changes.ts';

export const CHANGE_CHANNEL = 'rtc_changes';

/** Changes of this time share a notification. Readers on other instances get an event at most this much later. */
const GATHER_MS = 10;
/** More than the number of topics, so that a batch always waits for its full time. */
const GATHER_SIZE = Number.MAX_SAFE_INTEGER;

export type ChangeNotifier = {
  readonly notify: (topic: ChangeTopic) => void;
  /** Sends the notifications that are still waiting. */
  readonly close: () => Promise<void>;
};

/**
 * Notifies the other instances of committed changes, several changes at once. NOTIFY is not part of the transaction that
 * makes the change, because PostgreSQL lets transactions with a NOTIFY commit one at a time, and each waits for the disk
 * meanwhile. A notification that cannot be sent is dropped: listeners read again by themselves.
 */
export function createChangeNotifier(pool: Pool, log: Log): ChangeNotifier {
  const batcher = new Batcher<ChangeTopic>({
    maxSize: GATHER_SIZE,
    gather: { ms: GATHER_MS, size: GATHER_SIZE },
    flush: (topics) => sendTopics(pool, new Set(topics)),
  });
  return {
    notify: (topic) => {
      batcher.add(topic).catch((error: unknown) => {
        log.debug({ err: error }, 'notifying other instances of a change failed');
      });
    },
    close: () => batcher.close(),
  };
}

/** The statements of one message are one transaction. It does not wait for the disk, because its loss is harmless. */
async function sendTopics(pool: Pool, topics: ReadonlySet<ChangeTopic>): Promise<void> {
  const notifications = [...topics].map((topic) => `notify ${CHANGE_CHANNEL}, '${topic}'`);
  await pool.query(['set local synchronous_commit = off', ...notifications].join('; '));
}
