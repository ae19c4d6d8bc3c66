import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import type { Participant } from '../../../src/contract/participants.ts';
import type { Room } from '../../../src/contract/rooms.ts';
import { MissingSince } from '../../../src/server/media-events/missing-since.ts';
import { reconcileRooms } from '../../../src/server/media-events/reconcile-rooms.ts';
import type { Egress, MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import type { RecordingFiles } from '../../../src/server/recordings/files/recording-files.ts';
import {
  publishMissedEnds,
  reconcileRecordings,
} from '../../../src/server/recordings/reconcile-recordings.ts';
import { publishRecordingEnd } from '../../../src/server/recordings/recording-events.ts';
import { observeRecording } from '../../support/observe-recording.ts';
import { type EventStage, joined, left, mediaEvent, NOW, openEventStage } from './support/event-stage.ts';

/** What the media server says it has; the test changes it. */
type MediaWorld = {
  readonly rooms: Map<
    string,
    { readonly sid: string; readonly openedAt: number; people: readonly Participant[] }
  >;
  egress: readonly Egress[];
  failsAt?: string;
};

let stage: EventStage;
let world: MediaWorld;
let missingSince: MissingSince;
beforeEach(async () => {
  stage = await openEventStage();
  world = { rooms: new Map(), egress: [] };
  missingSince = new MissingSince();
});
afterEach(() => stage.close());

const at = (ms: number) => new Date(ms).toISOString();
const OPENED_AT = NOW - 5_000;

function present(
  sid: string,
  fields: { readonly joinedAt?: number; readonly kind?: string; readonly hidden?: boolean } = {},
) {
  const { joinedAt = NOW - 1_000, kind = 'STANDARD', hidden = false } = fields;
  const identity = sid.replace(/\d+$/, '');
  const seconds = String(Math.floor(joinedAt / 1000));
  return {
    sid: `PA_${sid}`,
    identity,
    name: '',
    kind,
    joinedAt: seconds,
    permission: { hidden },
  } as unknown as Participant;
}

const mediaServer = {
  listRooms: async (names?: readonly string[]) =>
    [...world.rooms]
      .filter(([name]) => names === undefined || names.includes(name))
      .map(([name, { sid, openedAt }]) => ({ sid, name, creationTimeMs: String(openedAt) }) as Room),
  listParticipants: async (name: string) => {
    if (world.failsAt === name) throw new ServiceError('media-server-error', 'It failed.');
    return world.rooms.get(name)?.people ?? [];
  },
  listEgress: async () => world.egress,
  getParticipant: async () => {
    throw new ServiceError('participant-not-found', 'No.');
  },
} as Partial<MediaServer> as MediaServer;

const compare = () => reconcileRooms({ ...stage.deps, mediaServer }, missingSince);
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const open = (name: string, sid: string, people: readonly Participant[] = [], openedAt = OPENED_AT) =>
  world.rooms.set(name, { sid, people, openedAt });

describe('comparing with the media server after a start', () => {
  it('tells what ended while the service was down, marked, with the time when it was found', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), joined('bob1'));
    stage.clock.advance(60_000);
    expect(await compare()).toBe(1);
    expect((await stage.summary()).slice(4)).toEqual([
      'participant_left ada 1 reconciled',
      'participant_left bob 0 reconciled',
      'room_finished 0 reconciled',
    ]);
    expect((await stage.storedEvents()).at(-1)).toMatchObject({
      timestamp: at(NOW + 60_000),
      room: { id: 'RM_1', endedAt: at(NOW + 60_000) },
      sequence: 7,
    });
    expect(await compare()).toBe(0);
    expect(await stage.summary()).toHaveLength(7);
  });

  it('tells who left and who came, and counts on from there', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), joined('bob1'));
    open('demo', 'RM_1', [present('bob1'), present('cleo1')]);
    stage.clock.advance(60_000);
    await compare();
    expect((await stage.summary()).slice(4)).toEqual([
      'participant_left ada 1 reconciled',
      'participant_joined cleo 2 reconciled',
    ]);
  });

  it('tells of a room that was opened, with its people and its true beginning', async () => {
    open('demo', 'RM_9', [present('ada1')]);
    stage.clock.advance(60_000);
    await compare();
    expect(await stage.summary()).toEqual([
      'room_created 0 reconciled',
      'room_started 1 reconciled',
      'participant_joined ada 1 reconciled',
    ]);
    expect((await stage.storedEvents())[0]).toMatchObject({
      timestamp: at(OPENED_AT),
      room: { createdAt: at(OPENED_AT) },
    });
  });

  it('tells of a room that was opened again under its name: the end of the one, the beginning of the other', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_2', [present('ada2')]);
    stage.clock.advance(60_000);
    await compare();
    const events = (await stage.storedEvents()).slice(3).map(({ event, room }) => `${event} ${room.id}`);
    expect(new Set(events)).toEqual(
      new Set([
        'participant_left RM_1',
        'room_finished RM_1',
        'room_created RM_2',
        'room_started RM_2',
        'participant_joined RM_2',
      ]),
    );
  });

  it('neither tells of recorders and agents nor counts them', async () => {
    open('demo', 'RM_1', [
      present('EG_1', { kind: 'EGRESS' }),
      present('bot1', { kind: 'AGENT' }),
      present('x1', { hidden: true }),
    ]);
    stage.clock.advance(60_000);
    await compare();
    expect(await stage.summary()).toEqual(['room_created 0 reconciled']);
  });

  it('tells nothing where nothing was missed', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_1', [present('ada1')]);
    stage.clock.advance(60_000);
    expect(await compare()).toBe(0);
    expect(await stage.summary()).toHaveLength(3);
  });

  it('goes on with the other rooms when one cannot be read', async () => {
    open('bad', 'RM_1', [present('ada1')]);
    open('good', 'RM_2', [present('bob1')]);
    world.failsAt = 'bad';
    stage.clock.advance(60_000);
    await expect(compare()).rejects.toThrow('It failed.');
    expect((await stage.storedEvents()).map(({ room }) => room.name)).toEqual(['good', 'good', 'good']);
  });
});

describe('comparing with the media server while its events come', () => {
  beforeEach(async () => {
    // The round after the start is over.
    await compare();
  });

  it('waits for the event of a room that has just been closed', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    stage.clock.advance(60_000);
    expect(await compare()).toBe(0);
    await stage.receive(mediaEvent('room_finished', { createdAt: NOW + 60_000 }));
    stage.clock.advance(20_000);
    expect(await compare()).toBe(0);
    expect(await stage.summary()).not.toContainEqual(expect.stringContaining('reconciled'));
  });

  it('tells what is still missing 20 s later, and not a moment before', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_1');
    stage.clock.advance(60_000);
    await compare();
    stage.clock.advance(19_999);
    expect(await compare()).toBe(0);
    stage.clock.advance(1);
    expect(await compare()).toBe(1);
    expect((await stage.summary()).slice(3)).toEqual(['participant_left ada 0 reconciled']);
  });

  it('begins anew with whoever was there again in between', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_1');
    stage.clock.advance(60_000);
    await compare();
    open('demo', 'RM_1', [present('ada1')]);
    stage.clock.advance(10_000);
    await compare();
    open('demo', 'RM_1');
    stage.clock.advance(15_000);
    expect(await compare()).toBe(0);
  });

  it('waits for the event of whoever has just come', async () => {
    await stage.receive(mediaEvent('room_started'));
    open('demo', 'RM_1', [present('ada1', { joinedAt: NOW })]);
    stage.clock.advance(19_999);
    expect(await compare()).toBe(0);
    await stage.receive(joined('ada1', { joinedAt: NOW }));
    stage.clock.advance(60_000);
    expect(await compare()).toBe(0);
  });

  it('tells once what is told by both', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    stage.clock.advance(60_000);
    await compare();
    stage.clock.advance(20_000);
    await compare();
    await stage.receive(left('ada1'), mediaEvent('room_finished'));
    expect((await stage.summary()).slice(3)).toEqual([
      'participant_left ada 0 reconciled',
      'room_finished 0 reconciled',
    ]);
  });
});

describe('recordings that ended unseen', () => {
  const egress: Egress = {
    egressId: 'EG_1',
    room: 'demo',
    status: 'EGRESS_COMPLETE',
    startedAt: NOW,
    endedAt: NOW + 10_000,
    mediaStartedAt: NOW + 1_000,
    error: undefined,
    requestedFilepath: undefined,
    file: { filename: 'a.mp4', location: 'a.mp4', sizeBytes: 77, durationMs: 9_000 },
  };
  const NO_FILES = {} as RecordingFiles;
  const look = (isPublishing = true) =>
    reconcileRecordings({
      ...stage.deps,
      mediaServer,
      log: silent,
      recordingFiles: NO_FILES,
      ...(isPublishing ? { publishEnd: (end) => publishRecordingEnd(stage.deps, end) } : {}),
    });
  const record = async () => {
    const { store } = stage;
    await store.recordings.claim(
      { id: 'rec1', room: 'demo', filepath: 'a.mp4', bucket: null, owner: 'me', claimUntil: NOW + 1 },
      NOW,
    );
    const created = { type: 'egress-created', owner: 'me', egressId: 'EG_1', at: NOW } as const;
    await observeRecording(store, 'rec1', created);
  };

  it('are told of with their file and in their room, which is over too', async () => {
    await stage.receive(mediaEvent('room_started'));
    await record();
    stage.clock.advance(60_000);
    world.egress = [egress];
    await compare();
    await look();
    const last = (await stage.storedEvents()).at(-1);
    expect(last).toMatchObject({
      event: 'egress_ended',
      reconciled: true,
      room: { id: 'RM_1', name: 'demo', createdAt: at(OPENED_AT), numParticipants: 0 },
      sequence: 3,
      recording: {
        egressId: 'EG_1',
        status: 'stopped',
        mediaStartedAt: at(NOW + 1_000),
        sizeBytes: 77,
        durationMs: 9_000,
      },
    });
    await look();
    expect(await stage.summary()).toHaveLength(3);
  });

  it('are left to the media server’s own event while it may be under way', async () => {
    await record();
    world.egress = [egress];
    stage.clock.advance(10_000 + 19_999);
    await look();
    expect(await stage.summary()).toEqual([]);
    // But the room is free, and the library knows all of it.
    expect(await stage.store.recordings.find('rec1')).toMatchObject({ status: 'stopped', sizeBytes: 77 });
    await publishMissedEnds(stage.deps);
    await stage.receive(mediaEvent('egress_ended', { egress }));
    stage.clock.advance(60_000);
    await look();
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toEqual(['egress_ended 0']);
  });

  it('are told of 20 s later when that event never comes', async () => {
    await record();
    world.egress = [{ ...egress, status: 'EGRESS_FAILED', error: 'no disk' }];
    stage.clock.advance(10_000 + 19_999);
    await look();
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toEqual([]);
    stage.clock.advance(2);
    await publishMissedEnds(stage.deps);
    expect(await stage.storedEvents()).toMatchObject([
      {
        event: 'egress_ended',
        reconciled: true,
        recording: { status: 'failed', error: 'no disk', sizeBytes: 77 },
      },
    ]);
  });

  it('are told of at once when they were found 20 s later', async () => {
    await record();
    world.egress = [egress];
    stage.clock.advance(10_000 + 20_000);
    await look();
    expect(await stage.summary()).toEqual(['egress_ended 0 reconciled']);
  });

  it('are told of also when the service was killed between their end and its telling', async () => {
    await record();
    world.egress = [egress];
    await look(false);
    expect(await stage.summary()).toEqual([]);
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toEqual([]);
    stage.clock.advance(60_000);
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toEqual(['egress_ended 0 reconciled']);
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toHaveLength(1);
  });

  it('are not told of anew when the media server told of them itself', async () => {
    await record();
    await stage.receive(mediaEvent('egress_ended', { egress }));
    stage.clock.advance(60_000);
    world.egress = [egress];
    await look();
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toEqual(['egress_ended 0']);
  });
});
