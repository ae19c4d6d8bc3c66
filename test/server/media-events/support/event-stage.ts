import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import type { AppendEventsDeps } from '../../../../src/server/events/append-events.ts';
import {
  type RecordMediaDeps,
  recordMediaEvents,
} from '../../../../src/server/media-events/record-media-events.ts';
import type { MediaEventStores } from '../../../../src/server/media-events/stores.ts';
import type { WaitingDeps } from '../../../../src/server/plans/waiting.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import type {
  MediaEvent,
  MediaEventParticipant,
} from '../../../../src/server/platform/livekit/media-event.ts';
import type { MediaServer } from '../../../../src/server/platform/livekit/media-server.ts';
import { createFindPlan, listSubjects } from '../../../../src/server/rooms/plans/plans.ts';
import type { RoomKey } from '../../../../src/server/rooms/store.ts';
import { NO_DISPATCHER } from '../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';

export const NOW = Date.UTC(2026, 0, 31, 9, 30, 0);

export type StoredPayload = {
  readonly event: string;
  readonly timestamp: string;
  readonly sequence: number | null;
  readonly reconciled?: boolean;
  readonly room: {
    readonly id: string;
    readonly name: string;
    readonly createdAt?: string;
    readonly endedAt?: string;
    readonly metadata: string | null;
    readonly numParticipants: number;
  };
  readonly participant?: { readonly identity: string; readonly sid: string; readonly joinedAt?: string };
  readonly track?: unknown;
  readonly recording?: Readonly<Record<string, unknown>>;
  readonly ingress?: unknown;
};

/** A store that receives events of the media server. Nothing is delivered. */
export type EventStage = {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly deps: AppendEventsDeps<MediaEventStores> &
    Pick<RecordMediaDeps, 'findRoomRecord' | 'findPlan'> &
    Pick<WaitingDeps, 'findNamedPlan' | 'findBlock' | 'mediaUrl' | 'tokenSigner'>;
  /** Stores the events in one transaction, like a batch of the ingest. */
  readonly receive: (...events: readonly MediaEvent[]) => Promise<void>;
  /** Does the same with the events of rooms that nobody has locked, and returns the others. */
  readonly receiveInFreeRooms: (...events: readonly MediaEvent[]) => Promise<readonly MediaEvent[]>;
  /** Resolves to all published events, in order. */
  readonly storedEvents: () => Promise<readonly StoredPayload[]>;
  /** Resolves to the events in short: name, identity and count. */
  readonly summary: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/** Opens a store on SQLite, or on the PostgreSQL of `databaseUrl`. */
export async function openEventStage(databaseUrl?: string): Promise<EventStage> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-told-'));
  const log = silentLog;
  const database = databaseUrl === undefined ? { sqlitePath: join(folder, 'store.sqlite') } : { databaseUrl };
  const store = await openStore({ database, clock: systemClock, log });
  const clock = new ManualClock(NOW);
  const findRoomRecord = (key: RoomKey) => store.rooms.find(key, clock.now());
  const findNamedPlan = async (room: string) => {
    const subjects = listSubjects(room).map(({ subject }) => subject);
    const found = await store.plans.findAll(subjects);
    return subjects.flatMap((one) => found.find(({ subject }) => subject === one) ?? [])[0];
  };
  const deps = {
    ...{ store, clock, ids: systemIds, dispatcher: NO_DISPATCHER, instanceId: 'test' },
    findRoomRecord,
    ...{ findNamedPlan, findPlan: createFindPlan(findNamedPlan, findRoomRecord) },
    ...{ findBlock: () => undefined, mediaUrl: 'ws://media.test', tokenSigner: { sign: () => 'token' } },
  };
  const recordDeps = { ...deps, mediaServer: NO_MEDIA_SERVER };
  const storedEvents = async () => {
    const events = await store.events.list({ afterPosition: 0, limit: 1000 });
    return events.map(({ type, payload }) => ({ event: type, ...JSON.parse(payload) }) as StoredPayload);
  };
  return {
    store,
    clock,
    deps,
    storedEvents,
    receive: async (...events) => void (await recordMediaEvents(recordDeps, events, 'all')),
    receiveInFreeRooms: (...events) => recordMediaEvents(recordDeps, events, 'free'),
    summary: async () =>
      (await storedEvents()).map(({ event, participant, room, reconciled }) =>
        [event, participant?.identity, room.numParticipants, reconciled && 'reconciled']
          .filter((part) => part !== undefined)
          .join(' '),
      ),
    close: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Storing events does not call the media server. */
const NO_MEDIA_SERVER = {} as MediaServer;

let events = 0;

type EventOptions = Partial<MediaEvent> & { readonly sid?: string };

/** Makes an event of the room `demo`. It has the whole room, or only its sid and name, as LiveKit's events of tracks do. */
export function mediaEvent(type: string, { sid = 'RM_1', ...fields }: EventOptions = {}): MediaEvent {
  events += 1;
  return {
    id: `EV_${events}`,
    type,
    createdAt: NOW,
    room: { sid, name: 'demo', createdAt: /^(room|participant)/.test(type) ? NOW - 5_000 : undefined },
    participant: undefined,
    track: undefined,
    egress: undefined,
    ingress: undefined,
    ...fields,
  };
}

export function person(sid: string, fields: Partial<MediaEventParticipant> = {}): MediaEventParticipant {
  return {
    sid: `PA_${sid}`,
    identity: sid.replace(/\d+$/, ''),
    name: '',
    kind: 'STANDARD',
    isHidden: false,
    joinedAt: NOW - 1_000,
    ...fields,
  };
}

export const joined = (sid: string, fields: Partial<MediaEventParticipant> = {}): MediaEvent =>
  mediaEvent('participant_joined', { participant: person(sid, fields) });

export const left = (sid: string, fields: Partial<MediaEvent> = {}): MediaEvent =>
  mediaEvent('participant_left', { participant: person(sid), ...fields });
