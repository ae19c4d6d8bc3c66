import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import type { Receiver } from '../../../test/server/webhooks/support/receiver.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { atMost, exactly, type Figure, type Figures, named, observed } from '../../figures.ts';
import { mediaRefusals, otherFailures } from '../../support/callers.ts';
import { countUntilNone } from '../../support/poll.ts';
import { percentile } from '../../support/statistics.ts';
import { callBoth } from '../media/media-stage.ts';
import { type Node, type NodeStage, startNodeStage } from './node-stage.ts';
import { enter, listEvents, openRooms, type Person, type Rooms, type Truth, untilTrue } from './people.ts';

const SEED = 20_261_130;
const CALLERS = 4;
const PAUSE_MS = 40;
const SECONDS = { calm: 5, settling: 15, later: 20, frozen: 40 } as const;
/** Maximum time between the end of a fault and correct lists. */
const BOUND_SECONDS = 120;
const POLL_INTERVAL_MS = 500;
export const livekitNodes: Experiment = { name: 'livekit-nodes', run: injectNodeFaults };

async function injectNodeFaults(context: ExperimentContext): Promise<Findings> {
  const { report } = context;
  const stage = await startNodeStage(context, 4 * CALLERS);
  const random = new Random(SEED);
  const call = createCalls(stage, random, report);
  const settled = async (...args: Parameters<typeof aftermath>): Promise<Figures> => {
    const { figures, lines } = await aftermath(...args);
    for (const line of lines) report(line);
    return figures;
  };
  const [first, second] = stage.nodes;
  const figures: Figure[] = [...(await call('before the faults', SECONDS.calm, 'calm'))];

  const killed = await injectFault(stage, {
    prefix: 'killed',
    node: first,
    fault: () => first.livekit().kill(),
  });
  const afterKill = watch(stage, killed);
  figures.push(...(await call('after a node was killed', SECONDS.settling, 'settling')));
  figures.push(...(await call('later', SECONDS.later, 'calm')));
  figures.push(
    ...(await settled(stage, killed, { since: 'the kill', seen: await afterKill, claims: 'claimed' })),
  );
  await first.startAgain();
  figures.push(...(await call('with two nodes again', SECONDS.calm, 'calm')));

  const fault = async () => second.livekit().freeze();
  const frozen = await injectFault(stage, { prefix: 'frozen', node: second, fault });
  figures.push(...(await call('after a node was frozen', SECONDS.settling, 'settling')));
  figures.push(...(await call('later while it is frozen', SECONDS.frozen - SECONDS.settling, 'calm')));
  second.livekit().thaw();
  const afterThaw = watch(stage, frozen);
  figures.push(...(await call('after it was thawed', SECONDS.settling, 'settling')));
  figures.push(...(await call('later after the thaw', SECONDS.later, 'calm')));
  figures.push(
    ...(await settled(stage, frozen, { since: 'the thaw', seen: await afterThaw, claims: 'observed' })),
  );
  figures.push(exactly('events that a webhook got twice', repeated(stage), 0));
  return { figures, versions: { LiveKit: livekitServerVersion }, notes: [`Seed ${SEED}.`] };
}

/** In the mood `settling`, requests about rooms may be refused. */
type Mood = 'calm' | 'settling';

function createCalls({ client, mediaSecret }: NodeStage, random: Random, report: (line: string) => void) {
  return async (name: string, seconds: number, mood: Mood): Promise<Figures> => {
    report(name);
    const calling = { name, seconds, random, callers: CALLERS, pauseMs: PAUSE_MS };
    const { media, stored } = await callBoth({ client, mediaSecret }, calling, report);
    const refused = mediaRefusals(media).length;
    const refusals = 'requests about rooms that were refused';
    const other = otherFailures(media).length + stored.failures.length;
    const wrong = media.wrongSuccesses.length + stored.wrongSuccesses.length;
    return named(name, [
      observed('requests', media.requests + stored.requests),
      mood === 'calm' ? exactly(refusals, refused, 0) : observed(refusals, refused),
      exactly('other failures', other, 0),
      exactly('successes that were not true', wrong, 0),
      observed('slowest answer', Math.round(percentile(media.timesMs, 1)), ' ms'),
    ]);
  };
}

function repeated({ receiver }: NodeStage): number {
  return receiver.received.length - new Set(receiver.received.map(({ body }) => body.id)).size;
}

type Injected = { readonly prefix: string; readonly rooms: Rooms; readonly people: readonly Person[] };

type Injection = { readonly prefix: string; readonly node: Node; readonly fault: () => Promise<void> };

/**
 * Lets people join, causes the fault on the node that hosts their rooms, and disconnects those who leave with it. `Rooms` says
 * what happens in each.
 */
async function injectFault(stage: NodeStage, { prefix, node, fault }: Injection): Promise<Injected> {
  const rooms = await openRooms(stage, prefix, node.id());
  const people: Person[] = [];
  for (const room of [rooms.deserted, rooms.resumed, rooms.elsewhere]) {
    for (const name of ['ada', 'bob']) people.push(await enter(stage.client, room, `${name}-${room}`));
  }
  const truth = makeTruth(rooms, people, [rooms.deserted, ...rooms.empty]);
  const before = await untilTrue(stage.client, () => truth, { prefix, deadlineMs: BOUND_SECONDS * 1000 });
  if (typeof before === 'string') throw new Error(`the lists were wrong before the fault: ${before}`);
  await fault();
  const leaving = people.filter(({ room }) => room === rooms.deserted);
  await Promise.all(leaving.map(({ joined }) => joined.leave()));
  return { prefix, rooms, people };
}

/** Returns the expected participants. The rooms in `also` are listed even if nobody is in them. */
function makeTruth({ resumed, elsewhere }: Rooms, people: readonly Person[], also: readonly string[]): Truth {
  const names = [...also, resumed, elsewhere];
  return new Map(
    names.map((name) => [name, people.filter(({ room }) => room === name).map(({ identity }) => identity)]),
  );
}

type Aftermath = { readonly figures: Figures; readonly lines: readonly string[] };

/** Returns who is connected now, according to the clients themselves. */
function truthNow({ rooms, people }: Injected): Truth {
  const present = people.filter(({ joined }) => joined.room.isConnected);
  return makeTruth(rooms, present, rooms.empty);
}

/**
 * Starts to measure. Resolves to the milliseconds until the lists are correct, or to a description of what is wrong at the
 * deadline.
 */
function watch({ client }: NodeStage, injected: Injected): Promise<number | string> {
  const { prefix } = injected;
  return untilTrue(client, () => truthNow(injected), { prefix, deadlineMs: BOUND_SECONDS * 1000 });
}

type Watched = {
  readonly since: string;
  readonly seen: number | string;
  /** `observed` if the service cannot know the participants, because LiveKit's own lists lose those of a frozen node. */
  readonly claims: 'claimed' | 'observed';
};

/** Counts the events that were published, after the lists are correct. */
async function aftermath(
  stage: NodeStage,
  injected: Injected,
  { since, seen, claims }: Watched,
): Promise<Aftermath> {
  const { prefix, rooms, people } = injected;
  const { receiver } = stage;
  const present = people.filter(({ joined }) => joined.room.isConnected);
  const inRoom = (name: string) => present.filter(({ room }) => room === name).length;
  const truth = truthNow(injected);
  const reported = (room: string, event: string): number =>
    listEvents(receiver, room).filter((one) => one.startsWith(event)).length;
  const unbalanced = await untilBalanced(receiver, truth);
  const claim = (name: string, measured: number, expected: number): Figure =>
    claims === 'claimed' ? exactly(name, measured, expected) : observed(name, measured);
  // A figure above the bound means that the lists never became correct.
  const measured = typeof seen === 'string' ? BOUND_SECONDS + 1 : Math.round(seen / 1000);
  const listed = { name: `time from ${since} until the lists are true`, bound: BOUND_SECONDS, unit: ' s' };
  const joinedAgain = reported(rooms.elsewhere, 'participant_joined') - 2;
  const figures = named(prefix, [
    claims === 'claimed' ? atMost({ ...listed, measured }) : observed(listed.name, measured, ' s'),
    observed('people who came back, of 2', inRoom(rooms.resumed)),
    exactly('people of the other node who are still there, of 2', inRoom(rooms.elsewhere), 2),
    observed('times that one of them joined again', joinedAgain),
    claim('reports that a person of the deserted room left', reported(rooms.deserted, 'participant_left'), 2),
    claim('reports that the deserted room finished', reported(rooms.deserted, 'room_finished'), 1),
    claim('reports that another room finished', othersFinished(stage, rooms), 0),
    claim(`rooms whose events do not add up to who is there, ${BOUND_SECONDS} s later`, unbalanced, 0),
    claim('rooms without people that could be deleted, of 3', await deleted(stage, rooms.empty), 3),
  ]);
  const lines = [
    ...(typeof seen === 'string' ? [seen] : []),
    ...[rooms.deserted, rooms.resumed, rooms.elsewhere].map(
      (name) => `${name}: ${listEvents(receiver, name).join(', ')}`,
    ),
  ];
  await Promise.all(present.map(({ joined }) => joined.leave()));
  return { figures, lines };
}

/**
 * Waits until joins minus leaves match the participants of every room. Resolves to the number of rooms where they do not at
 * the deadline.
 */
function untilBalanced(receiver: Receiver, truth: Truth): Promise<number> {
  const isUnbalanced = ([name, identities]: readonly [string, readonly string[]]): boolean => {
    const events = listEvents(receiver, name);
    const count = (event: string): number => events.filter((one) => one.startsWith(event)).length;
    return count('participant_joined') - count('participant_left') !== identities.length;
  };
  const pace = { everyMs: POLL_INTERVAL_MS, withinMs: BOUND_SECONDS * 1000 };
  return countUntilNone(pace, async () => [...truth].filter(isUnbalanced).length);
}

function othersFinished({ receiver }: NodeStage, { resumed, elsewhere, empty }: Rooms): number {
  return [resumed, elsewhere, ...empty].filter((name) => listEvents(receiver, name).includes('room_finished'))
    .length;
}

async function deleted({ client }: NodeStage, names: readonly string[]): Promise<number> {
  const responses = await Promise.all(names.map((name) => client.call('DELETE', `/v1/rooms/${name}`)));
  return responses.filter(({ status }) => status === 204).length;
}
