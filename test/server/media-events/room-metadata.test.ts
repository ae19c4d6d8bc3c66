import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { appendEvents, appendRoomEvent, lockNamedRoom } from '../../../src/server/events/append-events.ts';
import { learnMetadata } from '../../../src/server/events/event-payload.ts';
import { getSession, listSessions } from '../../../src/server/sessions/session-routes.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import {
  type EventStage,
  joined,
  left,
  mediaEvent,
  NOW,
  openEventStage,
  person,
} from './support/event-stage.ts';

const stages: EventStage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

const room = (metadata: string) => ({ sid: 'RM_1', name: 'demo', createdAt: NOW - 5_000, metadata });
const track = (type: string, sid: string) =>
  mediaEvent(type, { participant: person('ada1', { kind: undefined }), track: { sid, type: 'AUDIO' } });

describe.each([
  { name: 'SQLite', databaseUrl: async () => undefined },
  { name: 'PostgreSQL', databaseUrl: async () => (await createMigratedDatabase()).url },
])('the metadata of a room on $name', ({ databaseUrl }) => {
  const open = async (): Promise<EventStage> => {
    const stage = await openEventStage(await databaseUrl());
    stages.push(stage);
    return stage;
  };
  const shown = async (stage: EventStage) =>
    (await stage.storedEvents()).map(({ event, room: told }) => [event, told.metadata]);

  it('is in every event as it was when the event happened, also in those that come without it', async () => {
    const stage = await open();
    await stage.receive(mediaEvent('room_started', { room: room('A-1042') }));
    await stage.receive({ ...joined('ada1'), room: room('A-1042') }, track('track_published', 'TR_1'));
    await stage.receive({ ...joined('bob1'), room: room('A-1043 \0 \ud800') });
    await stage.receive(track('track_unpublished', 'TR_1'), { ...left('ada1'), room: room('') });
    expect(await shown(stage)).toEqual([
      ['room_created', 'A-1042'],
      ['room_started', 'A-1042'],
      ['participant_joined', 'A-1042'],
      ['track_published', 'A-1042'],
      ['participant_joined', 'A-1043 \0 \ud800'],
      ['track_unpublished', 'A-1043 \0 \ud800'],
      ['participant_left', ''],
    ]);
    expect((await getSession(stage, 'RM_1')).metadata).toBe('');
  });

  it('is null until an event tells it', async () => {
    const stage = await open();
    await stage.receive(track('track_published', 'TR_1'));
    expect(await shown(stage)).toEqual([['track_published', null]]);
    expect((await getSession(stage, 'RM_1')).metadata).toBeNull();
  });

  it('is that of the event itself, and later that of a change which the event did not have yet', async () => {
    const stage = await open();
    await stage.receive(mediaEvent('room_started', { room: room('old') }));
    await stage.store.presence.saveMetadata('RM_1', learnMetadata(null, 'new', NOW + 400));
    const late = { ...joined('ada1'), createdAt: NOW, receivedAt: NOW + 900, room: room('old') };
    await stage.receive(late, track('track_published', 'TR_1'));
    expect((await shown(stage)).slice(-2)).toEqual([
      ['participant_joined', 'old'],
      ['track_published', 'new'],
    ]);
    expect((await listSessions(stage, { limit: 9 })).sessions[0]?.metadata).toBe('new');
  });

  it('of more than 16 KiB is told by its length and hash, and is not stored', async () => {
    const stage = await open();
    const [longest, longer] = ['é'.repeat(8 * 1024), `${'é'.repeat(8 * 1024)}x`];
    await stage.receive(mediaEvent('room_started', { room: room(longest) }));
    await stage.receive({ ...joined('ada1'), room: room(longer) }, track('track_published', 'TR_1'));
    const reference = {
      metadata: null,
      metadataBytes: 16 * 1024 + 1,
      metadataSha256: createHash('sha256').update(longer).digest('hex'),
    };
    const events = await stage.storedEvents();
    expect(events[0]?.room.metadata).toBe(longest);
    expect(events[0]?.room).not.toHaveProperty('metadataBytes');
    expect(events.at(-1)).toMatchObject({ event: 'track_published', room: reference });
    expect(await getSession(stage, 'RM_1')).toMatchObject(reference);
  });

  it('is in events of the service itself, which leave it as it is', async () => {
    const stage = await open();
    await stage.receive(mediaEvent('room_started', { room: room('A-1042') }));
    await appendEvents(stage.deps, async (store, appender) => {
      const domainEvent = {
        ...({ type: 'transcription_completed', sourceId: 'done', occurredAt: NOW } as const),
        ...{ subject: {}, isReconciled: false },
      };
      await appendRoomEvent(store, appender, { room: await lockNamedRoom(store, 'demo'), domainEvent });
    });
    expect((await shown(stage)).at(-1)).toEqual(['transcription_completed', 'A-1042']);
    expect((await getSession(stage, 'RM_1')).metadata).toBe('A-1042');
  });

  it('is deleted with the session and its events', async () => {
    const stage = await open();
    await stage.receive(mediaEvent('room_started', { room: room('A-1042') }));
    await stage.receive(mediaEvent('room_finished', { room: room('A-1042'), createdAt: NOW + 1_000 }));
    await stage.store.events.purge(Number.MAX_SAFE_INTEGER, 9);
    await stage.store.usage.settle({ now: NOW, dueBy: NOW, limit: 9 });
    await stage.store.presence.purge(NOW + 60_000, 9);
    expect(await stage.storedEvents()).toEqual([]);
    expect((await listSessions(stage, { limit: 9 })).sessions).toEqual([]);
  });
});
