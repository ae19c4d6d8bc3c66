import { setTimeout as delay } from 'node:timers/promises';
import type { FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { postMediaEvent, roomFinished } from '../../test/server/webhooks/support/media-webhook.ts';
import type { Random } from '../../test/support/random.ts';

/** Posts events as the media server does: each again until an instance acknowledges it. */
export type MediaEvents = {
  /** To any of the living, whichever the seed picks; resolves when one has acknowledged it. */
  readonly post: (name: string) => Promise<void>;
  /** To this instance alone, once; the time until its 200, or undefined. */
  readonly postOnceTo: (instance: FleetInstance, name: string) => Promise<number | undefined>;
  /** By the name of the room, when the event was acknowledged. */
  readonly acknowledgedAt: ReadonlyMap<string, number>;
  /** Posts without a 200, each of which was repeated. */
  readonly refused: () => number;
  /** Posts nothing again. */
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
