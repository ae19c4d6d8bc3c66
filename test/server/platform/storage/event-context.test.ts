import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCountingProxy } from '../../../../proof/support/database-proxy.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import type {
  EventSubjects,
  ParticipantSession,
  PublishedTrack,
  RoomSession,
} from '../../../../src/server/events/store.ts';
import { createMigratedDatabase } from '../../../support/parts/migrated-database.ts';
import { joined, mediaEvent, openEventStage } from '../../media-events/support/event-stage.ts';
import { postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from './test-databases.ts';
import { newWebhook } from './webhook-records.ts';

const ROOM: RoomSession = {
  ...{ sid: 'RM_1', name: 'a\u00e9"', createdAt: 1_700_000_000_123 },
  ...{ startedAt: 2, endedAt: null, sequence: 7, metadata: '{"at":1,"metadata":"é"}' },
};
const ADA: ParticipantSession = {
  ...{ sid: 'PA_1', roomSid: 'RM_1', identity: 'ada', name: 'Ada', countsAs: 'participant' },
  ...{ joinedAt: 10, leftAt: null, metadata: '{"team":"a"}', accessRole: null, untoldUntil: null },
  keyId: null,
};
const TRACK: PublishedTrack = {
  ...{ sid: 'TR_1', participantSid: 'PA_1', roomSid: 'RM_1', track: '{"sid":"TR_1"}' },
  ...{ publishedAt: 11, unpublishedAt: null, untoldUntil: null },
};
/** Statements of the stage: the record of the room, for its end and for its plan, and the plan of its name. */
const OF_ROOM = 3;

const SUBJECTS = {
  rooms: ['RM_2', 'RM_1'],
  participants: ['PA_1', 'PA_9'],
  tracks: ['TR_1'],
  sourceIds: ['EV_known', 'EV_new'],
  starters: [
    { kind: 'joins', roomSid: 'RM_1', identity: 'ada', participantSid: 'PA_1', minute: 0 },
    { kind: 'tracks', roomSid: 'RM_1', identity: 'ada', participantSid: 'PA_1', minute: 0 },
    { kind: 'joins', roomSid: 'RM_1', identity: 'bob', participantSid: 'PA_2', minute: 0 },
  ],
} satisfies EventSubjects;

describe.each([
  ['SQLite', sqliteTestDatabase],
  ['PostgreSQL', postgresTestDatabase],
])('what the events of a transaction depend on, on %s', (engine, prepare) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
    await store.transaction((within) =>
      within.presence.saveAtCommit({ rooms: [ROOM], participants: [ADA], tracks: [TRACK] }),
    );
  });
  afterEach(() => testDatabase.close());

  it('is read with the locks of the rooms', async () => {
    await store.events.insertAll([{ ...makeEvent('known'), sourceId: 'EV_known' }], []);
    await store.webhooks.insert(newWebhook('wh_1'));
    const context = await store.transaction((within) => within.presence.lockAndRead(SUBJECTS, 'free'));
    expect(context).toEqual({
      sessions: [ROOM],
      busy: new Set(),
      participants: [ADA],
      tracks: [TRACK],
      presentCounts: new Map([['RM_1', 1]]),
      starts: [1, 1, 0],
      knownInstants: new Map([['EV_known', makeEvent('known').occurredAt]]),
      registrationsVersion: 1,
      isFanOutOpen: false,
    });
    await store.fanOuts.insert([{ eventId: 'known', createdAt: 1, afterCreatedAt: null, afterId: null }]);
    const none = { rooms: [], participants: [], tracks: [], sourceIds: [], starters: [] };
    expect(await store.transaction((within) => within.presence.lockAndRead(none, 'all'))).toMatchObject({
      ...{ sessions: [], participants: [], tracks: [], isFanOutOpen: true },
    });
  });

  it('is as it was before where the transaction that was to save it failed', async () => {
    const failing = store.transaction(async (within) => {
      const rooms = [{ ...ROOM, sequence: 8 }];
      await within.presence.saveAtCommit({ rooms, participants: [], tracks: [] });
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await store.presence.listOpenRooms()).toMatchObject([{ sid: 'RM_1', sequence: 7 }]);
  });

  // SQLite allows one writer at a time in all rooms.
  if (engine === 'SQLite') return;

  it('leaves out the rooms that another instance has locked', async () => {
    const other = await testDatabase.open();
    const context = await other.transaction(async (holding) => {
      await holding.presence.lockRoom('RM_1');
      return await store.transaction((within) => within.presence.lockAndRead(SUBJECTS, 'free'));
    });
    expect(context).toMatchObject({ sessions: [], busy: new Set(['RM_1']) });
  });

  it('has what another instance committed while the lock was waited for', async () => {
    const other = await testDatabase.open();
    const isLocked = Promise.withResolvers<void>();
    const first = other.transaction(async (holding) => {
      await holding.presence.lockRoom('RM_1');
      isLocked.resolve();
      await holding.presence.saveRoom({ ...ROOM, sequence: 8 });
      await holding.ping();
    });
    await isLocked.promise;
    const context = await store.transaction((within) => within.presence.lockAndRead(SUBJECTS, 'all'));
    await first;
    expect(context.sessions).toEqual([{ ...ROOM, sequence: 8 }]);
  });
});

it('an event of the media server takes seven statements and two round trips on PostgreSQL', async () => {
  const database = await createMigratedDatabase();
  const proxy = await startCountingProxy(database.url);
  const stage = await openEventStage(proxy.through(database.url));
  try {
    await stage.receive(mediaEvent('room_started'), joined('eve1'));
    // Opens all connections of the pool, because to open one takes round trips too.
    await Promise.all(Array.from({ length: 20 }, () => stage.store.events.lastPosition()));
    const before = proxy.traffic();
    await stage.receive(joined('ada1'));
    const { statements, roundTrips } = proxy.traffic();
    expect(await stage.summary()).toContain('participant_joined ada 2');
    // May include notifications of changes and a reading of the clock. A service has what is read of the room in memory.
    expect(statements - before.statements - OF_ROOM).toBeLessThanOrEqual(8);
    expect(roundTrips - before.roundTrips - OF_ROOM).toBeLessThanOrEqual(3);
  } finally {
    await stage.close();
    await proxy.close();
    await database.close();
  }
});

function makeEvent(id: string) {
  return {
    ...{ id, sourceId: id, type: 'room_started', room: 'demo', roomSid: 'RM_1', sequence: 1, payload: '{}' },
    ...{ occurredAt: 1, createdAt: 1, traceparent: null },
  };
}
