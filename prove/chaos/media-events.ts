import { setTimeout as delay } from 'node:timers/promises';
import type { FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { postMediaEvent, roomFinished } from '../../test/server/webhooks/support/media-webhook.ts';
import type { Random } from '../../test/support/random.ts';

/** Posts events as LiveKit does: repeats each one until an instance acknowledges it. */
export type MediaEvents = {
  /** Posts to running instances that the seed picks; resolves when one has acknowledged the event. */
  readonly post: (name: string) => Promise<void>;
  /** Posts once, to this instance only. Resolves to the milliseconds until its 200, or undefined. */
  readonly postOnceTo: (instance: FleetInstance, name: string) => Promise<number | undefined>;
  /** When each event was acknowledged, by room name. */
  readonly acknowledgedAt: ReadonlyMap<string, number>;
  /** Number of posts without a 200. Each was repeated. */
  readonly refused: () => number;
  /** Stops the repetitions. */
  readonly close: () => void;
};

const REPEAT_AFTER_MS = 100;
const POST_TIMEOUT_MS = 5_000;

export function createMediaEvents(living: () => readonly FleetInstance[], random: Random): MediaEvents {
  const acknowledgedAt = new Map<string, number>();
  let refused = 0;
  let isClosed = false;
  const postOnceTo = async ({ url }: FleetInstance, name: string): Promise<number | undefined> => {
    const startedAt = performance.now();
    const status = await Promise.race([
      postMediaEvent(url, roomFinished(name)).catch(() => 0),
      delay(POST_TIMEOUT_MS, 0),
    ]);
    if (status === 200) {
      acknowledgedAt.set(name, Date.now());
      return performance.now() - startedAt;
    }
    refused += 1;
    return undefined;
  };
  return {
    post: async (name) => {
      while (!isClosed) {
        const instances = living();
        if (instances.length > 0 && (await postOnceTo(random.pick(instances), name)) !== undefined) return;
        await delay(REPEAT_AFTER_MS);
      }
    },
    postOnceTo,
    acknowledgedAt,
    refused: () => refused,
    close: () => {
      isClosed = true;
    },
  };
}
