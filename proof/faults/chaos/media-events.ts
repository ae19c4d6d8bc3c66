import { setTimeout as delay } from 'node:timers/promises';
import type { FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import {
  postMediaEvent,
  roomFinished,
  roomLife,
} from '../../../test/server/webhooks/support/media-webhook.ts';
import type { Random } from '../../../test/support/random.ts';

/** Posts events as LiveKit does: repeats each one until an instance acknowledges it. */
export type MediaEvents = {
  /** Posts the end of a room to running instances that the seed picks; resolves when one has acknowledged the event. */
  readonly post: (name: string) => Promise<void>;
  /** Posts all events of a room, each one when the one before it was acknowledged. */
  readonly playRoom: (name: string) => Promise<void>;
  /** Posts the end of a room once, to this instance only. Resolves to the milliseconds until its 200, or undefined. */
  readonly postOnceTo: (instance: FleetInstance, name: string) => Promise<number | undefined>;
  /** When the end of each room was acknowledged, by room name. */
  readonly acknowledgedAt: ReadonlyMap<string, number>;
  /** Number of the service's events that the acknowledged ones lead to. */
  readonly acknowledged: () => number;
  /** Number of posts without a 200. Each was repeated. */
  readonly refused: () => number;
  /** Stops the repetitions. */
  readonly close: () => void;
};

const REPEAT_AFTER_MS = 100;
const POST_TIMEOUT_MS = 5_000;
/** The service publishes LiveKit's room_started as room_created, and adds room_started when the first person joins. */
export const EVENTS_PER_ROOM = 18;

export function createMediaEvents(living: () => readonly FleetInstance[], random: Random): MediaEvents {
  const acknowledgedAt = new Map<string, number>();
  let rooms = 0;
  let refused = 0;
  let isClosed = false;
  const postOnce = async ({ url }: FleetInstance, event: Readonly<Record<string, unknown>>) => {
    const status = await Promise.race([postMediaEvent(url, event).catch(() => 0), delay(POST_TIMEOUT_MS, 0)]);
    if (status !== 200) refused += 1;
    return status === 200;
  };
  const postUntilAcknowledged = async (event: Readonly<Record<string, unknown>>): Promise<boolean> => {
    while (!isClosed) {
      const instances = living();
      if (instances.length > 0 && (await postOnce(random.pick(instances), event))) return true;
      await delay(REPEAT_AFTER_MS);
    }
    return false;
  };
  return {
    post: async (name) => {
      if (await postUntilAcknowledged(roomFinished(name))) acknowledgedAt.set(name, Date.now());
    },
    playRoom: async (name) => {
      for (const event of roomLife(name)) await postUntilAcknowledged(event);
      rooms += 1;
    },
    postOnceTo: async (instance, name) => {
      const startedAt = performance.now();
      if (!(await postOnce(instance, roomFinished(name)))) return undefined;
      acknowledgedAt.set(name, Date.now());
      return performance.now() - startedAt;
    },
    acknowledgedAt,
    acknowledged: () => acknowledgedAt.size + rooms * EVENTS_PER_ROOM,
    refused: () => refused,
    close: () => {
      isClosed = true;
    },
  };
}
