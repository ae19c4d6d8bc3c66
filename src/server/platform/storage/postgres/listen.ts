import { Client } from 'pg';
import type { Clock } from '../../clock.ts';
import { type Loop, startLoop } from '../../jobs/loop.ts';
import type { Log } from '../../log.ts';
import { CHANGE_TOPICS, type ChangeHub } from '../changes.ts';
import { CHANGE_CHANNEL } from './notify.ts';

const CONNECT_TIMEOUT_MS = 5000;
const RECONNECT_PAUSE_MS = 1000;

export type ListenDeps = {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly changes: ChangeHub;
  /** Process ids of this instance's own connections, whose changes it publishes itself. */
  readonly ownProcessIds: ReadonlySet<number>;
};

/**
 * Publishes the changes of other instances, on a connection of its own. Changes may be missed while there is no
 * connection: after each connect every topic counts as changed. LISTEN needs a session, so that a connection pooler
 * must not be in transaction mode.
 */
export function listenForChanges(deps: ListenDeps): Loop {
  return startLoop({
    clock: deps.clock,
    log: deps.log,
    failureMessage: 'listening for changes in the database failed; trying again',
    round: async (signal) => {
      await listenUntilEnd(deps, signal);
      return RECONNECT_PAUSE_MS;
    },
  });
}

async function listenUntilEnd(
  { url, changes, ownProcessIds }: ListenDeps,
  signal: AbortSignal,
): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'rtc-service changes',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  // An 'error' event without a listener ends the process; an 'end' event follows it.
  client.on('error', () => {});
  client.on('notification', ({ payload, processId }) => {
    const topic = CHANGE_TOPICS.find((one) => one === payload);
    if (topic !== undefined && !ownProcessIds.has(processId)) changes.publish(topic, 'elsewhere');
  });
  const endClient = () => void client.end().catch(() => {});
  signal.addEventListener('abort', endClient, { once: true });
  try {
    // The connect never settles when the client is ended meanwhile.
    await Promise.race([client.connect(), ended]);
    if (signal.aborted) return;
    await client.query(`listen ${CHANGE_CHANNEL}`);
    changes.publishAll('elsewhere');
    await ended;
  } finally {
    signal.removeEventListener('abort', endClient);
    endClient();
  }
}
