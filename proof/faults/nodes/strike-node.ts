import { setTimeout as delay } from 'node:timers/promises';
import type { Receiver } from '../../../test/server/webhooks/support/receiver.ts';
import { atMost, exactly, type Figure, observed } from '../../part.ts';
import type { Node, NodeStage } from './node-stage.ts';
import { enter, eventsOf, openRooms, type Person, type Rooms, type Truth, untilTrue } from './people.ts';

/** Maximum time between the end of a fault and correct lists. */
export const BOUND_SECONDS = 120;

export type Struck = {
  readonly prefix: string;
  readonly rooms: Rooms;
  readonly people: readonly Person[];
};

export type Strike = {
  readonly prefix: string;
  readonly node: Node;
  readonly blow: () => Promise<void>;
};

/** Lets people join, causes the fault on the node that hosts their rooms, and disconnects those who leave with it. */
export async function strike(stage: NodeStage, { prefix, node, blow }: Strike): Promise<Struck> {
  const rooms = await openRooms(stage, prefix, node.id());
  const people: Person[] = [];
  for (const room of [rooms.deserted, rooms.resumed, rooms.elsewhere]) {
    for (const name of ['ada', 'bob']) people.push(await enter(stage.client, room, `${name}-${room}`));
  }
  const truth = truthOf(rooms, people, [rooms.deserted, ...rooms.empty]);
  const before = await untilTrue(stage.client, () => truth, { prefix, deadlineMs: BOUND_SECONDS * 1000 });
  if (typeof before === 'string') throw new Error(`the lists were wrong before the blow: ${before}`);
  await blow();
  const leaving = people.filter(({ room }) => room === rooms.deserted);
  await Promise.all(leaving.map(({ joined }) => joined.leave()));
  return { prefix, rooms, people };
}

/** Returns the expected participants. The rooms in `also` are listed even if nobody is in them. */
function truthOf({ resumed, elsewhere }: Rooms, people: readonly Person[], also: readonly string[]): Truth {
  const names = [...also, resumed, elsewhere];
  return new Map(
    names.map((name) => [name, people.filter(({ room }) => room === name).map(({ identity }) => identity)]),
  );
}

type Aftermath = { readonly figures: readonly Figure[]; readonly lines: readonly string[] };

/** Returns who is connected now, according to the clients themselves. */
function truthNow({ rooms, people }: Struck): Truth {
  const present = people.filter(({ joined }) => joined.room.isConnected);
  return truthOf(rooms, present, rooms.empty);
}

/**
 * Starts to measure. Resolves to the milliseconds until the lists are correct, or to a description of what is wrong at the
 * deadline.
 */
export function watch({ client }: NodeStage, struck: Struck): Promise<number | string> {
  const { prefix } = struck;
  return untilTrue(client, () => truthNow(struck), { prefix, deadlineMs: BOUND_SECONDS * 1000 });
}

export type Watched = {
  readonly since: string;
  readonly seen: number | string;
  /** `observed` if the service cannot know the participants, because LiveKit's own lists lose those of a frozen node. */
  readonly claims: 'claimed' | 'observed';
};

/** Counts the events that were published, after the lists are correct. */
export async function aftermath(
  stage: NodeStage,
  struck: Struck,
  { since, seen, claims }: Watched,
): Promise<Aftermath> {
  const { prefix, rooms, people } = struck;
  const { receiver } = stage;
  const present = people.filter(({ joined }) => joined.room.isConnected);
  const inRoom = (name: string) => present.filter(({ room }) => room === name).length;
  const truth = truthNow(struck);
  const reported = (room: string, event: string): number =>
    eventsOf(receiver, room).filter((one) => one.startsWith(event)).length;
  const unbalanced = await untilBalanced(receiver, truth);
  const claim = (name: string, measured: number, expected: number): Figure =>
    claims === 'claimed'
      ? exactly(`${prefix}: ${name}`, measured, expected)
      : observed(`${prefix}: ${name}`, measured);
  // A figure above the bound means that the lists never became correct.
  const seconds = typeof seen === 'string' ? BOUND_SECONDS + 1 : Math.round(seen / 1000);
  const untilTrue = `${prefix}: time from ${since} until the lists are true`;
  const figures: Figure[] = [
    claims === 'claimed'
      ? atMost({ name: untilTrue, measured: seconds, bound: BOUND_SECONDS, unit: ' s' })
      : observed(untilTrue, seconds, ' s'),
    observed(`${prefix}: people who came back, of 2`, inRoom(rooms.resumed)),
    exactly(`${prefix}: people of the other node who are still there, of 2`, inRoom(rooms.elsewhere), 2),
    observed(
      `${prefix}: times that one of them joined again`,
      reported(rooms.elsewhere, 'participant_joined') - 2,
    ),
    claim('reports that a person of the deserted room left', reported(rooms.deserted, 'participant_left'), 2),
    claim('reports that the deserted room finished', reported(rooms.deserted, 'room_finished'), 1),
    claim('reports that another room finished', othersFinished(stage, rooms), 0),
    claim(`rooms whose events do not add up to who is there, ${BOUND_SECONDS} s later`, unbalanced, 0),
    claim('rooms without people that could be deleted, of 3', await deleted(stage, rooms.empty), 3),
  ];
  const lines = [
    ...(typeof seen === 'string' ? [seen] : []),
    ...[rooms.deserted, rooms.resumed, rooms.elsewhere].map(
      (name) => `${name}: ${eventsOf(receiver, name).join(', ')}`,
    ),
  ];
  await Promise.all(present.map(({ joined }) => joined.leave()));
  return { figures, lines };
}

const POLL_INTERVAL_MS = 500;

/**
 * Waits until joins minus leaves match the participants of every room. Resolves to the number of rooms where they do not at
 * the deadline.
 */
async function untilBalanced(receiver: Receiver, truth: Truth): Promise<number> {
  const deadline = performance.now() + BOUND_SECONDS * 1000;
  for (;;) {
    const unbalanced = [...truth].filter(([name, identities]) => {
      const events = eventsOf(receiver, name);
      const count = (event: string): number => events.filter((one) => one.startsWith(event)).length;
      return count('participant_joined') - count('participant_left') !== identities.length;
    });
    if (unbalanced.length === 0 || performance.now() > deadline) return unbalanced.length;
    await delay(POLL_INTERVAL_MS);
  }
}

function othersFinished({ receiver }: NodeStage, { resumed, elsewhere, empty }: Rooms): number {
  return [resumed, elsewhere, ...empty].filter((name) => eventsOf(receiver, name).includes('room_finished'))
    .length;
}

async function deleted({ client }: NodeStage, names: readonly string[]): Promise<number> {
  const responses = await Promise.all(names.map((name) => client.call('DELETE', `/v1/rooms/${name}`)));
  return responses.filter(({ status }) => status === 204).length;
}
