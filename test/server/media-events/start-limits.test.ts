import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Participant } from '../../../src/contract/participants.ts';
import type { Room } from '../../../src/contract/rooms.ts';
import { MissingSince } from '../../../src/server/media-events/missing-since.ts';
import { OrphanedRooms } from '../../../src/server/media-events/orphaned-rooms.ts';
import { reconcileRooms } from '../../../src/server/media-events/reconcile-rooms.ts';
import { recordMediaEvents } from '../../../src/server/media-events/record-media-events.ts';
import type { MediaEvent } from '../../../src/server/platform/livekit/media-event.ts';
import type { MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { silentLog } from '../../support/silent-log.ts';
import {
  type EventStage,
  joined,
  left,
  mediaEvent,
  NOW,
  openEventStage,
  person,
  type StoredPayload,
} from './support/event-stage.ts';

type Limited = StoredPayload & { readonly limitedUntil?: string };

const MINUTE_END = NOW + 60_000;
const at = (ms: number): string => new Date(ms).toISOString();

const track = (type: string, sid: string, publisher = 'ada1'): MediaEvent =>
  mediaEvent(type, { participant: person(publisher, { joinedAt: NOW }), track: { sid } });

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

describe.each(['SQLite', 'PostgreSQL'])('joins and tracks in a loop, on %s', (engine) => {
  let stage: EventStage;
  let closeDatabase = async (): Promise<void> => {};
  beforeEach(async () => {
    if (engine === 'SQLite') stage = await openEventStage();
    else {
      const database = await createMigratedDatabase();
      closeDatabase = database.close;
      stage = await openEventStage(database.url);
    }
    await stage.receive(mediaEvent('room_started'), joined('bob1', { joinedAt: NOW }));
  });
  afterEach(async () => {
    await stage.close();
    await closeDatabase();
  });

  const events = async (type: string, identity = 'ada'): Promise<readonly Limited[]> =>
    (await stage.storedEvents()).filter(
      ({ event, participant }) => event === type && participant?.identity === identity,
    );
  const countEvents = async (): Promise<readonly number[]> =>
    Promise.all(
      ['participant_joined', 'participant_left', 'track_published', 'track_unpublished'].map(
        async (type) => (await events(type)).length,
      ),
    );
  const compare = (people: readonly Participant[]) => {
    const room = {
      sid: 'RM_1',
      name: 'demo',
      creationTimeMs: String(NOW - 5_000),
      numParticipants: 2,
    } as Room;
    const mediaServer = {
      listRooms: async () => [room],
      listParticipants: async () => people,
      isRoomServed: async () => true,
      isParticipantServed: async () => true,
    } as Partial<MediaServer> as MediaServer;
    const log = silentLog;
    const found = { missingSince: new MissingSince(), orphans: new OrphanedRooms() };
    return reconcileRooms({ ...stage.deps, log, mediaServer, ...found }, 'all');
  };
  const present = (sid: string, tracks: readonly string[] = []) =>
    ({
      ...{ ...person(sid), tracks: tracks.map((one) => ({ sid: one })), permission: { hidden: false } },
      joinedAt: String(NOW / 1000),
    }) as unknown as Participant;

  it('are reported so often in a minute, and the last event says until when the next are left out', async () => {
    await stage.receive(joined('ada1', { joinedAt: NOW }));
    for (const number of numbers(40)) {
      await stage.receive(
        track('track_published', `TR_${number}`),
        track('track_unpublished', `TR_${number}`),
      );
    }
    expect(await countEvents()).toEqual([1, 0, 30, 30]);
    const published = await events('track_published');
    expect(published.map(({ limitedUntil }) => limitedUntil).filter(Boolean)).toEqual([at(MINUTE_END)]);
    expect(published.at(-1)?.limitedUntil).toBe(at(MINUTE_END));
    // The presence of what is not reported is true all the same.
    const tracks = await stage.store.presence.findTracks(numbers(40).map((number) => `TR_${number}`));
    expect(tracks.filter(({ unpublishedAt }) => unpublishedAt !== null)).toHaveLength(40);
    await stage.receive(track('track_published', 'TR_b', 'bob1'));
    expect(await events('track_published', 'bob')).toHaveLength(1);
    stage.clock.advance(60_000);
    const later = { ...track('track_published', 'TR_later'), createdAt: MINUTE_END + 1 };
    await stage.receive({ ...later, receivedAt: MINUTE_END + 1 });
    expect(await countEvents()).toEqual([1, 0, 31, 30]);
  });

  it.each([1, 40])(
    'are counted by identity, over connections, %i of them in one transaction',
    async (size) => {
      const loop = numbers(40).flatMap((number) => [
        joined(`ada${number}`, { joinedAt: NOW + number }),
        track('track_published', `TR_${number}`, `ada${number}`),
        track('track_published', `TR_${number}b`, `ada${number}`),
        left(`ada${number}`),
      ]);
      for (let from = 0; from < loop.length; from += 4 * size)
        await stage.receive(...loop.slice(from, from + 4 * size));
      const [joins, ends, tracks] = await countEvents();
      expect([joins, ends, tracks]).toEqual([30, 30, 30]);
      const told = await events('participant_joined');
      expect(told.map(({ limitedUntil }) => limitedUntil).filter(Boolean)).toEqual([at(MINUTE_END)]);
      expect(told.every(({ room }) => room.numParticipants === 2)).toBe(true);
      expect(await stage.store.presence.countPresent('RM_1')).toBe(1);
      const connections = await stage.store.sessions.listConnections({ roomSid: 'RM_1', limit: 100 });
      expect(connections.filter(({ identity }) => identity === 'ada')).toHaveLength(40);
    },
  );

  it('are reported after the minute, as far as they last', async () => {
    for (const number of numbers(31)) {
      await stage.receive(joined(`ada${number}`, { joinedAt: NOW + number }));
      if (number < 31) await stage.receive(left(`ada${number}`));
    }
    await stage.receive(track('track_published', 'TR_1', 'ada31'), track('track_published', 'TR_2', 'ada31'));
    await stage.receive(track('track_unpublished', 'TR_2', 'ada31'));
    expect(await countEvents()).toEqual([30, 30, 0, 0]);
    const people = [present('bob1'), present('ada31', ['TR_1'])];
    await compare(people);
    expect(await countEvents()).toEqual([30, 30, 0, 0]);
    stage.clock.advance(60_000);
    expect(await compare(people)).toBe(0);
    expect(await countEvents()).toEqual([31, 30, 1, 0]);
    const late = (await events('participant_joined')).at(-1);
    expect(late).toMatchObject({ timestamp: at(NOW + 31), room: { numParticipants: 2 } });
    expect(late).not.toHaveProperty('reconciled');
    await compare(people);
    await stage.receive(track('track_unpublished', 'TR_1', 'ada31'), left('ada31'));
    expect(await countEvents()).toEqual([31, 31, 1, 1]);
  });

  it('are not reported as ended by the end of the room, or lost, where their start was left out', async () => {
    for (const number of numbers(31)) {
      await stage.receive(joined(`ada${number}`, { joinedAt: NOW + number }));
      if (number < 31) await stage.receive(left(`ada${number}`));
    }
    await stage.receive(mediaEvent('room_finished'));
    expect(await countEvents()).toEqual([30, 30, 0, 0]);
    expect((await events('participant_left', 'bob')).length).toBe(1);
    expect(await stage.store.presence.countPresent('RM_1')).toBe(0);
  });

  it('are counted where they are left out', async () => {
    const untold: string[] = [];
    const deps = {
      ...stage.deps,
      mediaServer: {} as MediaServer,
      onUntold: (type: string) => untold.push(type),
    };
    await stage.receive(joined('ada1', { joinedAt: NOW }));
    for (const number of numbers(31)) {
      const loop = [track('track_published', `TR_${number}`), track('track_unpublished', `TR_${number}`)];
      await recordMediaEvents(deps, loop, 'all');
    }
    expect(untold).toEqual(['track_published', 'track_unpublished']);
  });
});
