import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import type { Participant } from '../../../src/contract/participants.ts';
import type { Room } from '../../../src/contract/rooms.ts';
import { MissingSince } from '../../../src/server/media-events/missing-since.ts';
import { OrphanedRooms } from '../../../src/server/media-events/orphaned-rooms.ts';
import { type Extent, reconcileRooms } from '../../../src/server/media-events/reconcile-rooms.ts';
import type { Egress, MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import type { RecordingFiles } from '../../../src/server/recordings/files/recording-files.ts';
import {
  publishMissedEnds,
  reconcileRecordings,
} from '../../../src/server/recordings/reconcile-recordings.ts';
import { storeToldChange } from '../../../src/server/recordings/recording-events.ts';
import { observeRecording } from '../../support/observe-recording.ts';
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
} from './support/event-stage.ts';

/** The state of the media server, which the test changes. */
type MediaWorld = {
  readonly rooms: Map<
    string,
    { readonly sid: string; readonly openedAt: number; people: readonly Participant[]; metadata?: string }
  >;
  egress: readonly Egress[];
  failsAt?: string;
  /** Rooms and identities of a process that died. */
  readonly unserved: Set<string>;
  /** Rooms and identities that the media server holds, although it does not list them after the loss of its Redis. */
  readonly unlisted: Set<string>;
  readonly asked: string[];
};

let stage: EventStage;
let world: MediaWorld;
let missingSince: MissingSince;
let orphans: OrphanedRooms;
beforeEach(async () => {
  stage = await openEventStage();
  world = { rooms: new Map(), egress: [], unserved: new Set(), unlisted: new Set(), asked: [] };
  missingSince = new MissingSince();
  orphans = new OrphanedRooms();
});
afterEach(() => stage.close());

const at = (ms: number) => new Date(ms).toISOString();
const OPENED_AT = NOW - 5_000;

function present(
  sid: string,
  fields: {
    readonly joinedAt?: number;
    readonly kind?: string;
    readonly hidden?: boolean;
    /** Whether the list has milliseconds too. */
    readonly isExact?: boolean;
    readonly tracks?: readonly { readonly sid: string }[];
  } = {},
) {
  const { joinedAt = NOW - 1_000, kind = 'STANDARD', hidden = false, isExact = false, tracks = [] } = fields;
  const identity = sid.replace(/\d+$/, '');
  const seconds = String(Math.floor(joinedAt / 1000));
  return {
    sid: `PA_${sid}`,
    identity,
    name: '',
    kind,
    joinedAt: seconds,
    ...(isExact ? { joinedAtMs: String(joinedAt) } : {}),
    permission: { hidden },
    tracks,
  } as unknown as Participant;
}

/** LiveKit counts those whom it holds, whether it lists them or not. */
const countUnlisted = (room: string): number => [...world.unlisted].filter((held) => held !== room).length;

const mediaServer = {
  listRooms: async (names?: readonly string[]) =>
    [...world.rooms]
      .filter(([name]) => names === undefined || names.includes(name))
      .map(
        ([name, { sid, openedAt, people, metadata = '' }]) =>
          ({
            sid,
            name,
            creationTimeMs: String(openedAt),
            metadata,
            numParticipants: people.filter(({ kind }) => kind === 'STANDARD').length + countUnlisted(name),
          }) as Room,
      ),
  listParticipants: async (name: string) => {
    world.asked.push(name);
    if (world.failsAt === name) throw new ServiceError('media-server-error', 'It failed.');
    return world.rooms.get(name)?.people ?? [];
  },
  isRoomServed: async (name: string) =>
    world.unlisted.has(name) || (world.rooms.has(name) && !world.unserved.has(name)),
  isParticipantServed: async (name: string, identity: string) =>
    world.unlisted.has(identity) ||
    (!world.unserved.has(identity) &&
      world.rooms.get(name)?.people.some((one) => one.identity === identity) === true),
  listEgress: async () => world.egress,
  getParticipant: async () => {
    throw new ServiceError('participant-not-found', 'No.');
  },
} as Partial<MediaServer> as MediaServer;

const compare = (extent: Extent = 'differing') =>
  reconcileRooms({ ...stage.deps, log: silentLog, mediaServer, missingSince, orphans }, extent);

const open = (name: string, sid: string, people: readonly Participant[] = [], openedAt = OPENED_AT) =>
  world.rooms.set(name, { sid, people, openedAt });

describe('comparing with the media server after a start', () => {
  it('reports events that ended rooms while the service was down, marked, with the time when they were found', async () => {
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

  it('reports who left and who joined, and continues the sequence', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), joined('bob1'));
    open('demo', 'RM_1', [present('bob1'), present('cleo1')]);
    stage.clock.advance(60_000);
    await compare();
    expect((await stage.summary()).slice(4)).toEqual([
      'participant_left ada 1 reconciled',
      'participant_joined cleo 2 reconciled',
    ]);
  });

  it('reports somebody who joined though blocked only if the media server did not remove them', async () => {
    await stage.receive(
      mediaEvent('room_started'),
      joined('ada1'),
      joined('bob1', { isBlocked: true }),
      mediaEvent('track_published', { participant: person('bob1'), track: { sid: 'TR_1' } }),
      left('bob1'),
      joined('bob2', { isBlocked: true }),
    );
    const before = await stage.summary();
    expect(before.filter((line) => line.includes('bob'))).toEqual([]);
    open('demo', 'RM_1', [present('ada1'), present('bob2')]);
    stage.clock.advance(60_000);
    await compare();
    expect((await stage.summary()).slice(before.length)).toEqual(['participant_joined bob 2 reconciled']);
    await stage.receive(left('bob2'));
    expect((await stage.summary()).at(-1)).toBe('participant_left bob 1');
  });

  it('learns the metadata of a room that was changed at the media server itself', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    world.rooms.set('demo', {
      sid: 'RM_1',
      people: [present('ada1')],
      openedAt: OPENED_AT,
      metadata: 'A-1042',
    });
    expect(await compare('all')).toBe(0);
    await stage.receive(
      mediaEvent('track_published', { participant: person('ada1'), track: { sid: 'TR_1' } }),
    );
    expect((await stage.storedEvents()).at(-1)?.room.metadata).toBe('A-1042');
  });

  it('reports a room that was opened, with its participants and its true beginning', async () => {
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

  it('reports the instant at which somebody joined, which is not before that at which the room was opened', async () => {
    open('exact', 'RM_8', [present('ada1', { joinedAt: NOW + 837, isExact: true })], NOW + 831);
    open('seconds', 'RM_9', [present('bob1', { joinedAt: NOW + 837 })], NOW + 831);
    stage.clock.advance(60_000);
    await compare();
    const joins = (await stage.storedEvents()).filter(({ event }) => event === 'participant_joined');
    expect(joins.map(({ room, timestamp }) => [room.name, timestamp])).toEqual([
      ['exact', at(NOW + 837)],
      ['seconds', at(NOW + 831)],
    ]);
    const rows = await stage.store.sessions.list({ now: NOW + 60_000, limit: 9 });
    expect(rows.map(({ createdAt, startedAt }) => [createdAt, startedAt])).toEqual([
      [NOW + 831, NOW + 831],
      [NOW + 831, NOW + 837],
    ]);
  });

  it('never reports tracks before their participants joined, nor an end before them, by a clock that is behind', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1', { joinedAt: NOW + 90_000 }));
    open('demo', 'RM_1', [present('ada1', { tracks: [{ sid: 'TR_1' }] })]);
    stage.clock.advance(60_000);
    await compare('all');
    world.rooms.clear();
    missingSince.countAtOnce();
    await compare('all');
    const events = (await stage.storedEvents()).slice(3);
    expect(events.map(({ event, timestamp }) => `${event} ${timestamp}`)).toEqual([
      `track_published ${at(NOW + 90_000)}`,
      `track_unpublished ${at(NOW + 90_000)}`,
      `participant_left ${at(NOW + 90_000)}`,
      `room_finished ${at(NOW + 90_000)}`,
    ]);
  });

  it('reports a room that was opened again under its name: the end of the first, the beginning of the second', async () => {
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

  it('neither reports recorders and agents nor counts them', async () => {
    open('demo', 'RM_1', [
      present('EG_1', { kind: 'EGRESS' }),
      present('bot1', { kind: 'AGENT' }),
      present('x1', { hidden: true }),
    ]);
    stage.clock.advance(60_000);
    await compare();
    expect(await stage.summary()).toEqual(['room_created 0 reconciled']);
  });

  it('reports nothing when nothing was missed', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_1', [present('ada1')]);
    stage.clock.advance(60_000);
    expect(await compare()).toBe(0);
    expect(await stage.summary()).toHaveLength(3);
  });

  it('continues with the other rooms when one cannot be read', async () => {
    open('bad', 'RM_1', [present('ada1')]);
    open('good', 'RM_2', [present('bob1')]);
    world.failsAt = 'bad';
    stage.clock.advance(60_000);
    await compare();
    expect((await stage.storedEvents()).map(({ room }) => room.name)).toEqual(['good', 'good', 'good']);
  });

  it('reads a room again that could not be read, although its count does not differ', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_1', [present('ada1', { tracks: [{ sid: 'TR_1' }] })]);
    stage.clock.advance(60_000);
    world.failsAt = 'demo';
    expect(await compare('all')).toBe(0);
    delete world.failsAt;
    await compare();
    stage.clock.advance(20_000);
    expect(await compare()).toBe(1);
    expect((await stage.summary()).at(-1)).toBe('track_published ada 1 reconciled');
  });

  it('does not read a room again in which it has published the missed events', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), joined('bob1'));
    open('demo', 'RM_1', [present('ada1', { tracks: [{ sid: 'TR_1' }] })]);
    stage.clock.advance(60_000);
    expect(await compare('all')).toBe(1);
    expect((await stage.summary()).slice(4)).toEqual([
      'participant_left bob 1 reconciled',
      'track_published ada 1 reconciled',
    ]);
    expect([...missingSince.rooms]).toEqual([]);
  });

  it('reads rooms whose count differs before all others', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_1', [present('ada1')]);
    open('other', 'RM_2', [present('bob1')]);
    stage.clock.advance(60_000);
    await compare('all');
    expect(world.asked).toEqual(['other', 'demo']);
  });
});

describe('comparing with the media server while its events arrive', () => {
  beforeEach(async () => {
    // The round that follows the start is over.
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

  it('reports what is still missing 20 s later, and not a moment before', async () => {
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

  it('starts the time again for a participant who returned in between', async () => {
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

  it('waits for the event of a participant who has just joined', async () => {
    await stage.receive(mediaEvent('room_started'));
    open('demo', 'RM_1', [present('ada1', { joinedAt: NOW })]);
    stage.clock.advance(19_999);
    expect(await compare()).toBe(0);
    await stage.receive(joined('ada1', { joinedAt: NOW }));
    stage.clock.advance(60_000);
    expect(await compare()).toBe(0);
  });

  it('reports once what both report', async () => {
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

describe('a room that the media server did not list for a while, as after the loss of its Redis', () => {
  /** Compares as often as the service does, until all differences have counted. */
  const compareForAWhile = async (): Promise<void> => {
    for (let round = 0; round < 3; round += 1) {
      stage.clock.advance(20_000);
      await compare();
    }
  };
  const endWrongly = async (): Promise<void> => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    await compareForAWhile();
    expect((await stage.summary()).slice(-2)).toEqual([
      'participant_left ada 0 reconciled',
      'room_finished 0 reconciled',
    ]);
  };

  it('is open again, with everyone in it, when it has been listed for 20 seconds', async () => {
    await endWrongly();
    const count = (await stage.summary()).length;
    open('demo', 'RM_1', [present('ada1', { joinedAt: NOW })]);
    await compare();
    expect(await stage.summary()).toHaveLength(count);
    await compareForAWhile();
    expect((await stage.summary()).slice(count)).toEqual([
      'room_created 0 reconciled',
      'room_started 1 reconciled',
      'participant_joined ada 1 reconciled',
    ]);
    expect(await stage.deps.store.presence.listOpenRooms()).toMatchObject([{ sid: 'RM_1', endedAt: null }]);
    expect(await compare()).toBe(0);
  });

  it('reports its real end and the leavings before it once more', async () => {
    await endWrongly();
    open('demo', 'RM_1', [present('ada1', { joinedAt: NOW })]);
    await compareForAWhile();
    const count = (await stage.summary()).length;
    world.rooms.clear();
    const createdAt = stage.clock.now();
    await stage.receive(left('ada1', { createdAt }), mediaEvent('room_finished', { createdAt }));
    expect((await stage.summary()).slice(count)).toEqual(['participant_left ada 0', 'room_finished 0']);
    await stage.receive(mediaEvent('room_finished', { createdAt }));
    await compareForAWhile();
    expect(await stage.summary()).toHaveLength(count + 2);
  });

  it('reports somebody who joins meanwhile with the room, and no leaving', async () => {
    await endWrongly();
    const count = (await stage.summary()).length;
    const joinedAt = stage.clock.now() + 5_000;
    stage.clock.advance(5_000);
    await stage.receive(joined('bob1', { joinedAt }));
    expect(await stage.summary()).toHaveLength(count);
    open('demo', 'RM_1', [present('bob1', { joinedAt })]);
    await compareForAWhile();
    expect((await stage.summary()).slice(count)).toEqual([
      'room_created 0 reconciled',
      'room_started 1 reconciled',
      'participant_joined bob 1 reconciled',
    ]);
  });

  it('stays ended when it is listed only for a moment after its end', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    await stage.receive(mediaEvent('room_finished'));
    const count = (await stage.summary()).length;
    open('demo', 'RM_1');
    await compare();
    stage.clock.advance(19_999);
    await compare();
    world.rooms.clear();
    await compareForAWhile();
    expect(await stage.summary()).toHaveLength(count);
  });
});

describe('a room that an agent has opened although it is closed', () => {
  it('is reported by no comparison, until a person is in it', async () => {
    const now = stage.clock.now();
    await stage.store.rooms.save({
      ...{ room: 'demo', closedTo: 'helpers', closedAt: now, closedUntil: now + 3_600_000, closedSid: null },
      ...{ maxParticipants: null, emptyTimeout: null, departureTimeout: null, metadata: null, plan: null },
      keptUntil: null,
    });
    await stage.receive(mediaEvent('room_started'));
    open('demo', 'RM_1', [present('agent1', { kind: 'AGENT' })]);
    for (let round = 0; round < 3; round += 1) {
      await compare('all');
      stage.clock.advance(15_000);
    }
    expect(await stage.summary()).toEqual([]);
    open('demo', 'RM_1', [present('agent1', { kind: 'AGENT' }), present('ada1')]);
    await compare('all');
    expect(await stage.summary()).toEqual([
      'room_created 0 reconciled',
      'room_started 1 reconciled',
      'participant_joined ada 1 reconciled',
    ]);
  });
});

describe('a room that the media server does not list after the loss of its Redis, but still holds', () => {
  const compareForAWhile = async (): Promise<void> => {
    for (let round = 0; round < 3; round += 1) {
      await compare();
      stage.clock.advance(30_000);
    }
  };

  it('stays open with everyone in it, also when it is listed again with some of them', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    const count = (await stage.summary()).length;
    for (const held of ['demo', 'ada']) world.unlisted.add(held);
    await compareForAWhile();
    expect(await stage.summary()).toHaveLength(count);
    const joinedAt = stage.clock.now();
    await stage.receive(joined('bob1', { joinedAt }));
    open('demo', 'RM_1', [present('bob1', { joinedAt })]);
    await compareForAWhile();
    expect((await stage.summary()).slice(count)).toEqual(['participant_joined bob 2']);
    world.unlisted.delete('ada');
    await compareForAWhile();
    expect((await stage.summary()).slice(count + 1)).toEqual(['participant_left ada 1 reconciled']);
  });

  it('stays open when the time of its event passes during a comparison', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    stage.clock.advance(60_000);
    await compare();
    world.unlisted.add('demo');
    world.rooms.clear();
    const count = (await stage.summary()).length;
    await compare();
    stage.clock.advance(19_999);
    const listRooms: MediaServer['listRooms'] = async (names) => {
      if (names !== undefined) stage.clock.advance(1);
      return await mediaServer.listRooms(names);
    };
    const slow = { ...mediaServer, listRooms };
    await reconcileRooms(
      { ...stage.deps, log: silentLog, mediaServer: slow, missingSince, orphans },
      'differing',
    );
    expect(await stage.summary()).toHaveLength(count);
  });

  it('ends when it is no longer held, and when another room has its name', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    world.unlisted.add('demo');
    await compareForAWhile();
    open('demo', 'RM_2');
    await compareForAWhile();
    const ended = ['participant_left ada 0 reconciled', 'room_finished 0 reconciled'];
    expect(await stage.summary()).toEqual(expect.arrayContaining(ended));
  });
});

describe('a crowd of which the media server lists nobody any more', () => {
  const SIDS = Array.from({ length: 120 }, (_, index) => `guest${index}x1`);

  /** Compares once the crowd has been missing for a while. Returns who was asked for, and how many are told as gone. */
  const compareWithout = async (held: (identity: string) => boolean, counted: number | undefined) => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), ...SIDS.map((sid) => joined(sid)));
    open('demo', 'RM_1', [present('ada1')]);
    const asked: string[] = [];
    const changed = {
      isParticipantServed: async (_room: string, identity: string) => {
        asked.push(identity);
        return held(identity);
      },
      listRooms: async (names?: readonly string[]) => {
        const rooms = await mediaServer.listRooms(names);
        if (names === undefined) return rooms;
        return counted === undefined ? [] : rooms.map((room) => ({ ...room, numParticipants: counted }));
      },
    };
    const deps = { ...stage.deps, mediaServer: { ...mediaServer, ...changed }, missingSince, orphans };
    stage.clock.advance(60_000);
    await reconcileRooms({ ...deps, log: silentLog }, 'differing');
    const left = (await stage.summary()).filter((line) => line.startsWith('participant_left'));
    return { asked: asked.length, left: left.length };
  };

  it('is told as gone after fifty were asked for, as each request takes seconds', async () => {
    expect(await compareWithout(() => false, 1)).toEqual({ asked: 50, left: 120 });
  });

  it('is asked for as a whole if one of the fifty is there', async () => {
    expect(await compareWithout((identity) => identity !== 'guest7x', 1)).toEqual({ asked: 120, left: 1 });
  });

  it('is asked for as a whole if the media server counts more people than it lists', async () => {
    expect(await compareWithout((identity) => identity === 'guest119x', 2)).toEqual({
      asked: 120,
      left: 119,
    });
  });

  it('waits for the next comparison if the room is not listed any more', async () => {
    expect(await compareWithout(() => false, undefined)).toEqual({ asked: 50, left: 0 });
  });
});

it('a comparison ends a hundred rooms with as many statements as two', async () => {
  const statementsFor = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `${count}-${index}`);
    for (const name of names) open(name, `RM_${name}`);
    stage.clock.advance(60_000);
    await compare();
    let statements = 0;
    const { store } = stage.deps;
    const transaction: typeof store.transaction = (work) =>
      store.transaction((stores) => work(counting(stores, () => (statements += 1))));
    for (const name of names) world.rooms.delete(name);
    missingSince.countAtOnce();
    const deps = { ...stage.deps, store: { ...store, transaction } };
    await reconcileRooms({ ...deps, log: silentLog, mediaServer, missingSince, orphans }, 'all');
    expect(await stage.store.presence.listOpenRooms()).toEqual([]);
    return statements;
  };
  expect(await statementsFor(100)).toBe(await statementsFor(2));
});

it('a comparison handles four hundred rooms with participants in one transaction', async () => {
  for (let index = 0; index < 400; index += 1) open(`room ${index}`, `RM_${index}`, [present(`ada${index}`)]);
  stage.clock.advance(60_000);
  let transactions = 0;
  const { store } = stage.deps;
  const transaction: typeof store.transaction = (work) => {
    transactions += 1;
    return store.transaction(work);
  };
  const deps = { ...stage.deps, store: { ...store, transaction } };
  expect(await reconcileRooms({ ...deps, log: silentLog, mediaServer, missingSince, orphans }, 'all')).toBe(
    400,
  );
  expect(transactions).toBe(1);
});

/** Returns the stores, and calls `onCall` before each of their methods. */
function counting<Stores extends object>(stores: Stores, onCall: () => void): Stores {
  const watched = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get: (target, name, receiver) => {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== 'function') return member;
        return (...parameters: readonly unknown[]) => {
          onCall();
          return Reflect.apply(member, target, parameters) as unknown;
        };
      },
    });
  return new Proxy(stores, {
    // Without the proxy as the receiver, which has no private fields.
    get: (target, name) => {
      const store: unknown = Reflect.get(target, name);
      return typeof store === 'object' && store !== null ? watched(store) : store;
    },
  });
}

describe('tracks', () => {
  const TONE = { sid: 'TR_1', type: 'AUDIO', name: 'microphone', muted: false, source: 'MICROPHONE' };
  const summary = async () =>
    (await stage.storedEvents()).map(({ event, track, reconciled }) =>
      [event, (track as { readonly sid?: string } | undefined)?.sid, reconciled && 'reconciled']
        .filter((part) => part !== undefined)
        .join(' '),
    );
  const published = () => mediaEvent('track_published', { participant: person('ada1'), track: TONE });
  const unpublished = () => mediaEvent('track_unpublished', { participant: person('ada1'), track: TONE });

  it('that were published while the service was down are reported once, with the media server’s facts', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_1', [present('ada1', { tracks: [TONE] })]);
    stage.clock.advance(60_000);
    expect(await compare('all')).toBe(1);
    await stage.receive(published());
    expect(await compare('all')).toBe(0);
    expect((await stage.storedEvents()).slice(3)).toMatchObject([
      {
        event: 'track_published',
        reconciled: true,
        sequence: 4,
        room: { id: 'RM_1', numParticipants: 1 },
        participant: { sid: 'PA_ada1', identity: 'ada' },
        track: TONE,
      },
    ]);
  });

  it('of a participant whose join was missed too come after the join', async () => {
    open('demo', 'RM_1', [present('ada1', { tracks: [TONE] })]);
    stage.clock.advance(60_000);
    await compare('all');
    expect((await summary()).slice(2)).toEqual([
      'participant_joined reconciled',
      'track_published TR_1 reconciled',
    ]);
  });

  it('that were unpublished in the meantime are reported once', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), published());
    open('demo', 'RM_1', [present('ada1')]);
    stage.clock.advance(60_000);
    expect(await compare('all')).toBe(1);
    await stage.receive(unpublished());
    expect((await summary()).slice(4)).toEqual(['track_unpublished TR_1 reconciled']);
  });

  it('of participants who left in the meantime are unpublished first', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada1'), published());
    open('demo', 'RM_1');
    stage.clock.advance(60_000);
    await compare();
    expect((await summary()).slice(4)).toEqual([
      'track_unpublished TR_1 reconciled',
      'participant_left reconciled',
    ]);
  });

  it('wait for their event while events arrive, also when no count differs', async () => {
    await compare();
    await stage.receive(mediaEvent('room_started'), joined('ada1'));
    open('demo', 'RM_1', [present('ada1', { tracks: [TONE] })]);
    stage.clock.advance(60_000);
    expect(await compare()).toBe(0);
    stage.clock.advance(20_000);
    expect(await compare()).toBe(1);
    expect((await summary()).slice(3)).toEqual(['track_published TR_1 reconciled']);
  });

  it('of recorders and agents are not reported', async () => {
    open('demo', 'RM_1', [present('bot1', { kind: 'AGENT', tracks: [TONE] })]);
    stage.clock.advance(60_000);
    await compare('all');
    expect(await summary()).toEqual(['room_created reconciled']);
  });
});

describe('comparing many rooms', () => {
  const ROOMS = 250;
  beforeEach(async () => {
    for (let number = 1; number <= ROOMS; number += 1) {
      const sid = `RM_${String(number).padStart(3, '0')}`;
      const participant = person(`ada${number}`, { joinedAt: NOW - 1_000 });
      const room = { sid, name: `room${number}`, createdAt: OPENED_AT };
      await stage.receive({ ...mediaEvent('participant_joined', { participant }), room });
      open(`room${number}`, sid, [present(`ada${number}`)]);
    }
    stage.clock.advance(60_000);
  });

  it('reads the participants of rooms that differ and of a hundred others, in turn', async () => {
    await compare();
    expect(world.asked).toHaveLength(100);
    await compare();
    expect(world.asked).toHaveLength(200);
    expect(new Set(world.asked).size).toBe(200);
    world.asked.length = 0;
    open('room60', 'RM_060', []);
    await compare();
    expect(world.asked).toHaveLength(101);
    expect(world.asked).toContain('room60');
  });

  it('reads the participants of every room after a time without events', async () => {
    await compare('all');
    expect(world.asked).toHaveLength(ROOMS);
  });
});

describe('rooms that another instance is working on', () => {
  it('do not prevent the comparison of other rooms, and are compared in the next round', async () => {
    const database = await createMigratedDatabase();
    const shared = await openEventStage(database.url);
    const compareShared = () =>
      reconcileRooms({ ...shared.deps, log: silentLog, mediaServer, missingSince, orphans }, 'differing');
    const ended = async () => (await shared.storedEvents()).filter(({ event }) => event === 'room_finished');
    try {
      await shared.receive(mediaEvent('room_started'), mediaEvent('room_started', { sid: 'RM_2' }));
      shared.clock.advance(60_000);
      await shared.store.transaction(async (within) => {
        await within.presence.lockRoom('RM_1');
        expect(await compareShared()).toBe(1);
        expect((await ended()).map(({ room }) => room.id)).toEqual(['RM_2']);
      });
      shared.clock.advance(20_000);
      expect(await compareShared()).toBe(1);
      expect((await ended()).map(({ room }) => room.id)).toEqual(['RM_2', 'RM_1']);
    } finally {
      await shared.close();
      await database.close();
    }
  });
});

describe('recordings whose end was missed', () => {
  const egress: Egress = {
    egressId: 'EG_1',
    room: 'demo',
    status: 'EGRESS_COMPLETE',
    startedAt: NOW,
    endedAt: NOW + 10_000,
    mediaStartedAt: NOW + 1_000,
    error: undefined,
    startId: undefined,
    streams: [],
    file: { filename: 'a.mp4', location: 'a.mp4', sizeBytes: 77, durationMs: 9_000 },
  };
  const NO_FILES = {} as RecordingFiles;
  const look = () =>
    reconcileRecordings({
      ...stage.deps,
      mediaServer,
      log: silentLog,
      recordingFiles: NO_FILES,
      storeTold: (end) => storeToldChange(stage.deps, end),
    });
  const record = async () => {
    const { store } = stage;
    await store.recordings.claim(
      { id: 'rec1', room: 'demo', filepath: 'a.mp4', bucket: null, owner: 'me', claimUntil: NOW + 1 },
      NOW,
    );
    const created = { type: 'egress-created', egressId: 'EG_1', at: NOW } as const;
    await observeRecording(store, 'rec1', created);
  };

  it('are reported with their file and in their room, which is over too', async () => {
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

  it('are left to the media server’s own event while it may still arrive', async () => {
    await record();
    world.egress = [egress];
    stage.clock.advance(10_000 + 19_999);
    await look();
    expect(await stage.summary()).toEqual([]);
    // But the room is free, and the recording library has all its facts.
    expect(await stage.store.recordings.find('rec1')).toMatchObject({ status: 'stopped', sizeBytes: 77 });
    await publishMissedEnds(stage.deps);
    await stage.receive(mediaEvent('egress_ended', { egress }));
    stage.clock.advance(60_000);
    await look();
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toEqual(['egress_ended 0']);
  });

  it('are reported 20 s later when that event never arrives', async () => {
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

  it('are reported at once when they were found 20 s later', async () => {
    await record();
    world.egress = [egress];
    stage.clock.advance(10_000 + 20_000);
    await look();
    expect(await stage.summary()).toEqual(['egress_ended 0 reconciled']);
  });

  it('are reported again, as corrected, when a recorder that was considered lost stores its file', async () => {
    await record();
    stage.clock.advance(120_000);
    world.egress = [];
    await look();
    world.egress = [egress];
    await stage.receive(mediaEvent('egress_ended', { egress }));
    await stage.receive(mediaEvent('egress_ended', { egress }));
    expect(await stage.storedEvents()).toMatchObject([
      { event: 'egress_ended', recording: { egressId: 'EG_1', status: 'failed' } },
      {
        event: 'egress_ended',
        recording: { egressId: 'EG_1', status: 'stopped', sizeBytes: 77, corrected: true },
      },
    ]);
    expect((await stage.storedEvents())[0]?.recording).not.toHaveProperty('corrected');
    await look();
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toHaveLength(2);
  });

  it('are not reported again when the media server reported them itself', async () => {
    await record();
    await stage.receive(mediaEvent('egress_ended', { egress }));
    stage.clock.advance(60_000);
    world.egress = [egress];
    await look();
    await publishMissedEnds(stage.deps);
    expect(await stage.summary()).toEqual(['egress_ended 0']);
  });
});
