import { setTimeout as delay } from 'node:timers/promises';
import { mediaWebhook, roomFinished } from '../../test/server/webhooks/support/media-webhook.ts';
import type { SignedClient } from '../support/signed-client.ts';

export type Tailers = {
  /** Posts events one after the other. Resolves to the milliseconds until each event was at each tailer. */
  readonly follow: (events: number) => Promise<readonly number[]>;
  readonly close: () => Promise<void>;
};

const WAIT_SECONDS = 20;
const PAUSE_MS = 200;

/** Starts readers that wait at the end of the events, each with its own request. */
export function startTailers(client: SignedClient, count: number): Tailers {
  const postedAt = new Map<string, number>();
  const times: number[] = [];
  let isClosed = false;
  const tail = async (): Promise<void> => {
    let cursor = 'latest';
    while (!isClosed) {
      const path = `/v1/events?limit=50&wait=${WAIT_SECONDS}&cursor=${encodeURIComponent(cursor)}`;
      const { status, json } = await client.call('GET', path);
      if (status !== 200) throw new Error(`a tailer got ${status}`);
      const arrivedAt = performance.now();
      for (const event of Array.isArray(json.events) ? json.events : []) {
        const at = postedAt.get(nameOf(event));
        if (at !== undefined) times.push(arrivedAt - at);
      }
      cursor = String(json.nextCursor);
    }
  };
  const tails = Array.from({ length: count }, tail);
  const failed = Promise.all(tails).then(() => {});
  failed.catch(() => {});
  return {
    follow: async (events) => {
      times.length = 0;
      for (let index = 0; index < events; index += 1) {
        const name = `tailed-${postedAt.size}`;
        postedAt.set(name, performance.now());
        const { status } = await client.post('/livekit/webhook', mediaWebhook(roomFinished(name)));
        if (status !== 200) throw new Error(`an event got ${status}`);
        await Promise.race([delay(PAUSE_MS), failed]);
      }
      while (times.length < events * count) await Promise.race([delay(PAUSE_MS), failed]);
      return [...times];
    },
    close: async () => {
      isClosed = true;
      // One last event ends the waiting requests.
      await client.post('/livekit/webhook', mediaWebhook(roomFinished('the-last')));
      await failed;
    },
  };
}

function nameOf(event: unknown): string {
  const { room }: { room?: unknown } = Object(event);
  const { name }: { name?: unknown } = Object(room);
  return String(name);
}
