import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MediaEvent } from '../../../src/server/platform/livekit/media-event.ts';
import {
  type EventStage,
  mediaEvent,
  NOW,
  openEventStage,
  person,
  type StoredPayload,
} from './support/event-stage.ts';

let stage: EventStage;
let rooms = 0;
beforeAll(async () => {
  stage = await openEventStage();
});
afterAll(() => stage.close());

/** An event with the instant at which it really happened, of which the media server reports the second. */
type Happening = { readonly at: number; readonly event: MediaEvent };

/** A meeting by the media server's clock: lengths of time in milliseconds. */
const meetings = fc.record({
  openedAt: fc.integer({ min: NOW, max: NOW + 2_000 }),
  people: fc.array(
    fc.record({
      joinsAfter: fc.nat(1_200),
      publishesAfter: fc.nat(900),
      publishesFor: fc.nat(1_200),
      leavesAfter: fc.nat(900),
    }),
    { maxLength: 3 },
  ),
  streamsFor: fc.nat(1_200),
  closesAfter: fc.nat(1_200),
});
type Meeting = typeof meetings extends fc.Arbitrary<infer Value> ? Value : never;

/** How far the service's clock is ahead, and how long each event takes to arrive. */
const arrivals = fc.record({
  clockAhead: fc.oneof(fc.constant(0), fc.integer({ min: -3_000, max: 3_000 })),
  delays: fc.array(fc.nat(1_500), { minLength: 20, maxLength: 20 }),
});

function play({ openedAt, people, streamsFor, closesAfter }: Meeting, sid: string): readonly Happening[] {
  const room = { sid, name: 'demo', createdAt: openedAt };
  const happen = (type: string, at: number, fields: Partial<MediaEvent>): Happening => ({
    at,
    event: mediaEvent(type, { sid, room, createdAt: Math.floor(at / 1000) * 1000, ...fields }),
  });
  const ofPeople = people.flatMap(({ joinsAfter, publishesAfter, publishesFor, leavesAfter }, index) => {
    const joinedAt = openedAt + joinsAfter;
    const publishedAt = joinedAt + publishesAfter;
    const unpublishedAt = publishedAt + publishesFor;
    const participant = person(`${sid}-${index}`, { joinedAt });
    const change = {
      participant,
      room: { ...room, createdAt: undefined },
      track: { sid: `TR_${sid}-${index}` },
    };
    return [
      happen('participant_joined', joinedAt, { participant }),
      happen('track_published', publishedAt, change),
      happen('track_unpublished', unpublishedAt, change),
      happen('participant_left', unpublishedAt + leavesAfter, { participant }),
    ];
  });
  const stream = { room: { ...room, createdAt: undefined }, streamId: `ST_${sid}` };
  const before = [
    happen('room_started', openedAt, {}),
    ...ofPeople,
    happen('ingress_started', openedAt, stream),
    happen('ingress_ended', openedAt + streamsFor, stream),
  ];
  const endedAt = Math.max(...before.map(({ at }) => at)) + closesAfter;
  return [...before, happen('room_finished', endedAt, {})].toSorted((one, other) => one.at - other.at);
}

type Arrival = Happening & { readonly arrivesAt: number };

function delay(
  happenings: readonly Happening[],
  { clockAhead, delays }: { readonly clockAhead: number; readonly delays: readonly number[] },
): readonly Arrival[] {
  return happenings.map((one, index) => ({
    ...one,
    arrivesAt: one.at + clockAhead + (delays[index % delays.length] ?? 0),
  }));
}

async function receive(arriving: readonly Arrival[], sid: string) {
  const afterPosition = await stage.store.events.lastPosition();
  for (const { event, arrivesAt } of arriving) {
    stage.clock.advance(arrivesAt - stage.clock.now());
    await stage.receive(event);
  }
  const session = await stage.store.sessions.find(sid, stage.clock.now());
  const connections = await stage.store.sessions.listConnections({ roomSid: sid, limit: 100 });
  const stored = await stage.store.events.list({ afterPosition, limit: 100 });
  const events = stored.map(
    ({ type, payload }) => ({ event: type, ...JSON.parse(payload) }) as StoredPayload,
  );
  return { session, connections, events };
}

/** Pairs of instants of which the first must not be after the second. */
function expectOrder(pairs: readonly (readonly [string, number, number])[]): void {
  expect(pairs.filter(([, before, after]) => before > after)).toEqual([]);
}

function orderOfRows({ session, connections }: Awaited<ReturnType<typeof receive>>) {
  const { createdAt = 0, startedAt = null, endedAt = null } = session ?? {};
  expect(endedAt).not.toBeNull();
  const end = endedAt ?? 0;
  return [
    ['a session is opened before it starts', createdAt, startedAt ?? createdAt],
    ['a session starts before it ends', startedAt ?? createdAt, end],
    ...connections.flatMap(({ joinedAt, leftAt }) => [
      ['people join an open room', createdAt, joinedAt] as const,
      ['people join before they leave', joinedAt, leftAt ?? 0] as const,
      ['people leave before the room ends', leftAt ?? 0, end] as const,
    ]),
  ] as const;
}

const ENDS: Readonly<Record<string, string>> = {
  track_unpublished: 'track_published',
  ingress_ended: 'ingress_started',
  participant_left: 'participant_joined',
  room_finished: 'room_started',
};

function orderOfEvents(events: readonly StoredPayload[], types: readonly string[]) {
  const name = (event: StoredPayload) => event.participant?.sid ?? event.room.id;
  return events
    .filter(({ event }) => types.includes(event))
    .flatMap((end) => {
      const start = events.find(
        ({ event, ...one }) => event === ENDS[end.event] && name({ event, ...one }) === name(end),
      );
      if (start === undefined) return [];
      return [[end.event, Date.parse(start.timestamp), Date.parse(end.timestamp)] as const];
    });
}

describe('whatever the clocks and the delays, starts come before ends', () => {
  it('in rows and events, and no duration is wrong by a second', async () => {
    await fc.assert(
      fc.asyncProperty(meetings, arrivals, async (meeting, how) => {
        rooms += 1;
        const sid = `RM_${rooms}`;
        const happenings = play(meeting, sid);
        let last = Number.NEGATIVE_INFINITY;
        // LiveKit sends the events of a room one after the other.
        const arriving = delay(happenings, how).map((one) => {
          last = Math.max(last, one.arrivesAt);
          return { ...one, arrivesAt: last };
        });
        const told = await receive(arriving, sid);
        expectOrder([...orderOfRows(told), ...orderOfEvents(told.events, Object.keys(ENDS))]);
        const instants = told.events.map(({ timestamp }) => Date.parse(timestamp));
        const ofPeople = told.events.findIndex(({ event }) => event === 'room_finished');
        expect(ofPeople).toBe(told.events.length - 1);
        expect(Math.max(...instants)).toBe(instants.at(-1));
        const wrongBy = (told.session?.endedAt ?? 0) - (happenings.at(-1)?.at ?? 0);
        expect(Math.abs(wrongBy)).toBeLessThan(1_000);
        if (how.clockAhead === 0) expect(wrongBy).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 60 },
    );
  });

  it('in rows and events of tracks and streams, in whatever order the events arrive', async () => {
    await fc.assert(
      fc.asyncProperty(meetings, arrivals, async (meeting, how) => {
        rooms += 1;
        const sid = `RM_${rooms}`;
        const arriving = delay(play(meeting, sid), how);
        const told = await receive(
          arriving.toSorted((one, other) => one.arrivesAt - other.arrivesAt),
          sid,
        );
        expectOrder([
          ...orderOfRows(told),
          ...orderOfEvents(told.events, ['track_unpublished', 'ingress_ended', 'participant_left']),
        ]);
      }),
      { numRuns: 60 },
    );
  });
});
