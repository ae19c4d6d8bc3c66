import { isOfRooms, type RoomPrefixes } from '../../contract/keys.ts';
import type { Clock } from '../platform/clock.ts';
import { KeyLimits } from '../platform/http/limits/key-limits.ts';
import type { RouteServices } from '../platform/http/register-route.ts';
import { requireAllRooms, requireRoom } from '../platform/http/route.ts';
import { broadcastNotFound } from '../recordings/broadcasts.ts';
import { findByEitherId, recordingNotFound } from '../recordings/recordings.ts';
import { sessionNotFound } from '../sessions/session-routes.ts';
import { transcriptionNotFound } from '../transcription/transcriptions.ts';
import type { UsageSettler } from '../usage/settle-usage.ts';
import { countMonth } from '../usage/usage-routes.ts';
import { webhookNotFound } from '../webhooks/webhooks.ts';
import type { Config } from './config/config.ts';
import type { Adapters } from './open-adapters.ts';
import type { Store } from './store.ts';

/*
 * Keys for a part of the rooms. What belongs to another room does not exist for such a key: the answer is the one for an
 * unknown id. Paths with a room, or with something of one, are checked here, for all routes alike. Lists, and requests that
 * name a room in their body, look at the caller themselves (`ofRooms`). All other routes refuse such a key, so that a new
 * route is closed to it until somebody has decided.
 */

type RoomsOfKeyDeps = {
  readonly store: Pick<Store, 'recordings' | 'sessions' | 'transcriptions' | 'webhooks'>;
  readonly clock: Pick<Clock, 'now'>;
};

/** Throws for an id whose object exists and belongs to another room. An unknown id is left to the route. */
type CheckObject = (id: string, rooms: RoomPrefixes) => Promise<void>;

export function createRoomsOfKey(deps: RoomsOfKeyDeps): NonNullable<RouteServices['ensureOfRooms']> {
  const checks = objectChecks(deps);
  return async (caller, params) => {
    const { rooms } = caller;
    if (rooms === undefined) return;
    const { roomId } = params;
    const names = Object.keys(checks).filter((name) => params[name] !== undefined);
    if (roomId === undefined && names.length === 0) return requireAllRooms(caller);
    if (roomId !== undefined) requireRoom(caller, roomId);
    for (const name of names) await checks[name as keyof typeof checks](params[name] ?? '', rooms);
  };
}

function objectChecks({ store, clock }: RoomsOfKeyDeps) {
  return {
    recordingId: async (id, rooms) => {
      const found = await findByEitherId(store, id);
      if (found !== undefined && !isOfRooms(found.room, rooms)) throw recordingNotFound(id);
    },
    broadcastId: async (id, rooms) => {
      const found = await findByEitherId(store, id);
      if (found !== undefined && !isOfRooms(found.room, rooms)) throw broadcastNotFound(id);
    },
    sessionId: async (id, rooms) => {
      const found = await store.sessions.find(id, clock.now());
      if (found !== undefined && !isOfRooms(found.name, rooms)) throw sessionNotFound(id);
    },
    transcriptionId: async (id, rooms) => {
      const found = await store.transcriptions.find(id);
      if (found !== undefined && !isOfRooms(found.room, rooms)) throw transcriptionNotFound(id);
    },
    webhookId: async (id, rooms) => {
      const found = await store.webhooks.find(id);
      if (found !== undefined && !isSame(found.rooms, rooms)) throw webhookNotFound(id);
    },
  } satisfies Readonly<Record<string, CheckObject>>;
}

function isSame(ofWebhook: RoomPrefixes | null, ofKey: RoomPrefixes): boolean {
  return JSON.stringify(ofWebhook) === JSON.stringify(ofKey);
}

type KeyLimitsDeps = Pick<Adapters, 'store' | 'clock' | 'metrics'> & {
  readonly usageSettler: Pick<UsageSettler, 'refresh'>;
};

export function createKeyLimits(
  { values }: Config,
  { store, clock, metrics, usageSettler }: KeyLimitsDeps,
): KeyLimits {
  return new KeyLimits({
    limits: {
      webhooks: values.MAX_WEBHOOKS_PER_KEY,
      plans: values.MAX_PLANS_PER_KEY,
      vocabularies: values.MAX_VOCABULARIES_PER_KEY,
      blocks: values.MAX_BLOCKS_PER_KEY,
    },
    counts: {
      webhooks: store.webhooks.countOfKey,
      plans: store.plans.countOfKey,
      vocabularies: store.vocabularies.countOfKey,
      blocks: (keyId) => store.blocks.countOfKey(keyId, clock.now()),
    },
    rooms: {
      ...store.sessions,
      countMinutes: async (rooms) => {
        await usageSettler.refresh();
        return await countMonth(store.usage, { rooms, now: store.clock.now() });
      },
    },
    clock,
    onRefused: metrics?.countKeyLimitRefusal,
  });
}
