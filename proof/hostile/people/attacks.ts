import { setTimeout as delay } from 'node:timers/promises';
import { AccessToken } from 'livekit-server-sdk';
import { forEachConcurrently } from '../../../src/server/platform/jobs/concurrently.ts';
import { expectedSignatures, type Receiver } from '../../../test/server/webhooks/support/receiver.ts';
import type { Livekit } from '../../../test/support/parts/livekit.ts';
import type { People, Person } from '../../../test/support/parts/people.ts';
import { atMost, exactly, type Figures, none, observed } from '../../figures.ts';
import { findWithin } from '../../support/poll.ts';
import { listAll, type SignedClient } from '../../support/signed-client.ts';
import { percentile } from '../../support/statistics.ts';

/** Texts that somebody whose token another program has signed can have as a name, by what is odd about them. */
const ODD_TEXTS: Readonly<Record<string, string>> = {
  NUL: 'a\0b',
  'a bell': 'a\u0007b',
  'a title for the terminal': '\u001b]0;owned\u0007name',
  'a cleared terminal': '\u001b[2J\u001b[H$ all is well',
  'a C1 control': '\u009b31mred',
  'a line of a log': 'a\n{"level":50,"msg":"forged"}',
  'a carriage return': 'Mallory\rAda',
  'a backspace': 'Mallory\b\b\b\b\b\b\bAda',
  'the other direction': '\u202egnp.exe\u202c',
  'an isolate without end': '\u2067Ada',
  'no width': 'A\u200bd\u200ba\ufeff',
  'a line separator': 'Ada\u2028Mallory\u2029',
  'half a character': 'a\ud800b',
  'an emoji of a family': '👩‍👩‍👧‍👦 and 🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'stacked marks': `Z${'\u0351\u0317'.repeat(80)}`,
  HTML: '<img src=x onerror="alert(1)"></script><script>alert(2)</script>',
  Markdown: '[Ada](javascript:alert(1)) ![x](http://127.0.0.1:9/x)',
  'a formula': '=cmd|"/c calc"!A1',
  SQL: "'; drop table events; --",
  'a template': '#{7*7}{{7*7}}%s%n%x',
  'a path': '../../../../etc/passwd',
  'a prototype': '__proto__',
  'a link': 'javascript:alert(1)',
  'blanks only': '   ',
  '200 letters': 'n'.repeat(200),
  '256 bytes': 'é'.repeat(128),
  '64 kB': 'n'.repeat(65_536),
};

/** A service with a real media server that reports to it, and a receiver of its webhooks. */
export type Scene = {
  readonly client: SignedClient;
  readonly livekit: Livekit;
  readonly receiver: Receiver;
  /** A process of the attackers. */
  readonly attackers: People;
  /** The secret of the webhook. */
  readonly secret: string;
  readonly seconds: number;
  readonly crowd: number;
};

/** Attacks a room of this name, and returns what only this attack shows. */
type Attack = (scene: Scene, room: string) => Promise<Figures>;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'joins while blocked': joinWhileBlocked,
  'joins in a loop': joinInLoop,
  'publications in a loop': publishInLoop,
  'floods of data': floodWithData,
  'odd names': useOddNames,
  'a crowd': gather,
};

const LANES = 4;
/** Messages that each of the people who flood a room sends in a second. */
const MESSAGES = 50;
const TELLING_OF_CROWD = { everyMs: 500, withinMs: 120_000 };
/** A comparison begins every 30 s, and counts what the next one, 20 s later, still finds. */
const MOST_COMPARISON_MS = 60_000;
/** People of a crowd who join at once. */
const AT_ONCE = 8;
/** The service removes whoever is blocked when the media server reports the join. */
const REMOVAL_MS = 5_000;
/** A participant is active by then. */
const ACTIVE_MS = 60;
/** By the service's own limit; see docs/webhooks.md. */
const MOST_STARTS = 30;

export async function askToken({ client }: Pick<Scene, 'client'>, room: string, identity: string) {
  const body = { roomId: room, userId: identity, name: identity, role: 'participant' };
  const { json, status, text } = await client.call('POST', '/v1/token', body);
  if (status !== 200) throw new Error(`a token was refused: ${status}, ${text}`);
  return { url: String(json.url), token: String(json.token) };
}

async function enter(scene: Scene, room: string, identity: string): Promise<Person> {
  const { url, token } = await askToken(scene, room, identity);
  return await scene.attackers.join(url, token);
}

/** Somebody who does nothing, so that the room stays open. */
function keepOpen(scene: Scene, room: string): Promise<Person> {
  return enter(scene, room, 'keeper');
}

/** Resolves to undefined if the join is refused, or if the person is removed meanwhile. */
function tryToJoin({ attackers }: Scene, url: string, token: string): Promise<Person | undefined> {
  return attackers.join(url, token).catch(() => undefined);
}

/** Repeats the work in several lanes at once, until the time of an attack is over. */
async function repeat({ seconds }: Scene, work: (lane: number) => Promise<void>): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  const loop = async (lane: number): Promise<void> => {
    while (performance.now() < end) await work(lane);
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => loop(lane)));
}

async function joinWhileBlocked(scene: Scene, room: string): Promise<Figures> {
  const keeper = await keepOpen(scene, room);
  const names = Array.from({ length: LANES }, (_, lane) => `mallory ${lane}`);
  const tokens = await Promise.all(names.map((name) => askToken(scene, room, name)));
  for (const name of names) {
    const path = `/v1/rooms/${room}/participants/${encodeURIComponent(name)}?block=forever`;
    const { status } = await scene.client.call('DELETE', path);
    if (status !== 204) throw new Error(`a block was refused: ${status}`);
  }
  const times: number[] = [];
  let lasting = 0;
  await repeat(scene, async (lane) => {
    const { url, token } = tokens[lane] ?? { url: '', token: '' };
    const guest = await tryToJoin(scene, url, token);
    if (guest === undefined) return;
    const joinedAt = performance.now();
    const isRemoved = await findWithin({ everyMs: 5, withinMs: REMOVAL_MS }, async () => !guest.isConnected);
    times.push(performance.now() - joinedAt);
    if (isRemoved === undefined) lasting += 1;
    await guest.leave();
  });
  await keeper.leave();
  const told = (await listSettled(scene, room)).filter(
    ({ participant }) => participant?.identity !== 'keeper',
  );
  return [
    observed('joins', times.length),
    exactly('joins that lasted', lasting, 0),
    observed('in the room until the removal, p99', Math.round(percentile(times, 0.99)), ' ms'),
    none('events that name somebody', told, ({ participant }) => participant !== undefined),
  ];
}

async function joinInLoop(scene: Scene, room: string): Promise<Figures> {
  const keeper = await keepOpen(scene, room);
  const { url, token } = await askToken(scene, room, 'looper');
  let joins = 0;
  // The same person with several programs, of which each join ends the one before.
  await repeat(scene, async () => {
    const guest = await tryToJoin(scene, url, token);
    if (guest === undefined) return;
    joins += 1;
    // LiveKit reports nobody who leaves sooner.
    await delay(ACTIVE_MS);
    await guest.leave();
  });
  await keeper.leave();
  return [observed('joins', joins), ...limitFigures(await listSettled(scene, room), 'participant_joined')];
}

async function publishInLoop(scene: Scene, room: string): Promise<Figures> {
  const guest = await enter(scene, room, 'publisher');
  let tracks = 0;
  await repeat(scene, async () => {
    const sid = await guest.publish();
    tracks += 1;
    await guest.unpublish(sid);
  });
  await guest.leave();
  return [observed('tracks', tracks), ...limitFigures(await listSettled(scene, room), 'track_published')];
}

async function floodWithData(scene: Scene, room: string): Promise<Figures> {
  const listener = await keepOpen(scene, room);
  const guests = await Promise.all(
    Array.from({ length: LANES }, (_, lane) => enter(scene, room, `flooder ${lane}`)),
  );
  let sent = 0;
  await repeat(scene, async (lane) => {
    const topic = ['rtc.closing', 'rtc.admitted', 'lk.transcription'][lane] ?? 'x';
    const pause = delay(1_000 / MESSAGES);
    await guests[lane]?.send({ bytes: 12_000, topic, reliable: lane % 2 === 0 });
    sent += 1;
    await pause;
  });
  const received = await listener.leave();
  for (const guest of guests) await guest.leave();
  return [
    observed('messages of 12 kB that were sent', sent),
    observed('messages that a listener got', received),
  ];
}

async function useOddNames(scene: Scene): Promise<Figures> {
  const { client, livekit, receiver } = scene;
  const guests: Person[] = [];
  for (const [what, text] of Object.entries(ODD_TEXTS)) {
    const options = { identity: text.slice(0, 200), name: text, metadata: text, attributes: { odd: text } };
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, options);
    token.addGrant({ roomJoin: true, room: `odd ${what} ${text}`.slice(0, 200) });
    const guest = await tryToJoin(scene, livekit.url, await token.toJwt());
    if (guest !== undefined) guests.push(guest);
  }
  const sids = guests.map(({ sid }) => sid);
  const told = () =>
    receiver.received.filter(
      ({ body }) => body.event === 'participant_joined' && sids.includes(body.participant?.sid ?? ''),
    );
  await findWithin({ everyMs: 50, withinMs: 20_000 }, async () => told().length >= sids.length);
  const isSigned = (one: ReturnType<typeof told>[number]): boolean =>
    one.headers['webhook-signature'] === expectedSignatures(one, scene.secret).standard;
  const answers = await Promise.all(
    ['/v1/rooms?limit=100', '/v1/events?limit=100', '/v1/sessions?limit=100'].map((path) =>
      client.call('GET', path),
    ),
  );
  for (const guest of guests) await guest.leave();
  return [
    observed('odd people whom the media server lets in', guests.length),
    exactly(
      'joins of which no webhook tells',
      sids.length - new Set(told().map(({ body }) => body.participant?.sid)).size,
      0,
    ),
    none('webhooks with another signature', told(), (one) => !isSigned(one)),
    none('lists that are not answered', answers, ({ status }) => status !== 200),
  ];
}

/** Lets people join one room, which is then deleted. */
async function gather(scene: Scene, room: string): Promise<Figures> {
  const keeper = await keepOpen(scene, room);
  const names = Array.from({ length: scene.crowd }, (_, index) => `guest ${index}`);
  const times: number[] = [];
  const guests: Person[] = [];
  await forEachConcurrently(names, AT_ONCE, async (name) => {
    const { url, token } = await askToken(scene, room, name);
    const startedAt = performance.now();
    const guest = await tryToJoin(scene, url, token);
    if (guest === undefined) return;
    guests.push(guest);
    times.push(performance.now() - startedAt);
  });
  const people = listAll(scene.client, `/v1/rooms/${room}/participants?limit=500`, 'participants');
  const listed = (await Array.fromAsync(people)).length;
  let events: readonly Stored[] = [];
  const countOf = (type: string): number => events.filter(({ event }) => event === type).length;
  // LiveKit keeps 200 events of a room, and drops the rest. A comparison with it finds who has left.
  const untilTold = async (leaves: number): Promise<number> => {
    const startedAt = performance.now();
    await findWithin(TELLING_OF_CROWD, async () => {
      events = await listEvents(scene, room);
      return countOf('participant_left') >= leaves;
    });
    return Math.round(performance.now() - startedAt);
  };
  const half = guests.splice(0, guests.length / 2);
  await Promise.all(half.map((guest) => guest.leave()));
  const leaving = { name: 'until the leaves of half of them at once were told', unit: ' ms' };
  const leavingMs = await untilTold(half.length);
  const { status } = await scene.client.call('DELETE', `/v1/rooms/${room}`);
  const closing = { name: 'until the leaves of the others, whose room is deleted, were told', unit: ' ms' };
  const closingMs = await untilTold(times.length + 1);
  for (const guest of [keeper, ...guests]) await guest.leave();
  const bound = MOST_COMPARISON_MS;
  return [
    exactly('people who joined', times.length, scene.crowd),
    observed('a join, p99', Math.round(percentile(times, 0.99)), ' ms'),
    exactly('people whom the list leaves out', times.length + 1 - listed, 0),
    exactly('joins without an event', times.length + 1 - countOf('participant_joined'), 0),
    atMost({ ...leaving, measured: leavingMs, bound }),
    exactly('refused deletions of the room', Number(status !== 204), 0),
    atMost({ ...closing, measured: closingMs, bound }),
    exactly('joins without a leave', countOf('participant_joined') - countOf('participant_left'), 0),
  ];
}

type Stored = {
  readonly event: string;
  readonly timestamp: string;
  readonly participant?: { readonly identity: string };
  readonly limitedUntil?: string;
};

/** Lists the events of a room, or of all rooms, from the first to the last. */
export async function listEvents({ client }: Pick<Scene, 'client'>, room?: string) {
  const filter = room === undefined ? '' : `&roomId=${encodeURIComponent(room)}`;
  return await Array.fromAsync(listAll<Stored>(client, `/v1/events?limit=500${filter}`, 'events'));
}

/** Lists the events of a room that people have left, when no more come. */
async function listSettled(scene: Scene, room: string): Promise<readonly Stored[]> {
  let [events, steady] = [await listEvents(scene, room), 0];
  while (steady < 5) {
    await delay(300);
    const now = await listEvents(scene, room);
    steady = now.length === events.length ? steady + 1 : 0;
    events = now;
  }
  return events;
}

/** Whether the events of each person and minute are at most so many, and the last one says so. */
function limitFigures(events: readonly Stored[], type: string): Figures {
  const minutes = Map.groupBy(
    events.filter(({ event }) => event === type),
    ({ participant, timestamp }) => `${participant?.identity} ${timestamp.slice(0, 16)}`,
  );
  const full = [...minutes.values()].filter(({ length }) => length >= MOST_STARTS);
  const untold = full.filter((minute) => minute.every(({ limitedUntil }) => limitedUntil === undefined));
  const measured = Math.max(0, ...[...minutes.values()].map(({ length }) => length));
  return [
    atMost({ name: `${type} of one person in a minute`, measured, bound: MOST_STARTS }),
    observed('minutes in which more were left out', full.length),
    exactly('minutes that do not say so', untold.length, 0),
  ];
}
