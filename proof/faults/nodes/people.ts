import { setTimeout as delay } from 'node:timers/promises';
import type { Receiver } from '../../../test/server/webhooks/support/receiver.ts';
import { type JoinedParticipant, join } from '../../../test/support/parts/participant.ts';
import type { SignedClient } from '../../support/signed-client.ts';
import type { NodeStage } from './node-stage.ts';

/** A participant that uses LiveKit's own client, with the client's own view of the connection. */
export type Person = { readonly room: string; readonly identity: string; readonly joined: JoinedParticipant };

export async function enter(client: SignedClient, room: string, identity: string): Promise<Person> {
  const body = { roomId: room, userId: identity, name: identity, role: 'participant' };
  const { json } = await client.call('POST', '/v1/token', body);
  return { room, identity, joined: await join(String(json.url), String(json.token)) };
}

/** Rooms with participants, on the node with the fault and on the other one. */
export type Rooms = {
  /** Its participants leave with the node. */
  readonly deserted: string;
  /** Its participants return: LiveKit's client reconnects by itself. */
  readonly resumed: string;
  /** Rooms without participants, on the node with the fault. */
  readonly empty: readonly string[];
  /** A room on the other node. */
  readonly elsewhere: string;
};

const MAX_ROOMS = 40;
const EMPTY_ROOMS = 3;
/** Seconds that a room stays open without participants, before the first one joins and after the last one leaves. */
const LIVELY = { emptyTimeout: 30 };
const LASTING = { emptyTimeout: 3_600 };

/** Creates rooms until LiveKit has placed enough of them on either node. */
export async function openRooms(stage: NodeStage, prefix: string, faultyId: string): Promise<Rooms> {
  const empties = await openOn(stage, {
    prefix: `${prefix}-empty`,
    faultyId,
    settings: LASTING,
    wanted: EMPTY_ROOMS,
  });
  const lively = await openOn(stage, { prefix: `${prefix}-people`, faultyId, settings: LIVELY, wanted: 2 });
  const [deserted, resumed] = lively.onFaulty;
  const [elsewhere] = lively.others;
  if (deserted === undefined || resumed === undefined || elsewhere === undefined) {
    throw new Error('LiveKit put no room on one of the nodes');
  }
  const surplus = [...lively.onFaulty.slice(2), ...lively.others.slice(1), ...empties.others];
  for (const name of surplus) await stage.client.call('DELETE', `/v1/rooms/${name}`);
  return { deserted, resumed, empty: empties.onFaulty, elsewhere };
}

type Opening = {
  readonly prefix: string;
  readonly faultyId: string;
  readonly settings: { readonly emptyTimeout: number };
  /** Number of rooms on the node that gets the fault. At least one more must be on the other node. */
  readonly wanted: number;
};

async function openOn(stage: NodeStage, { prefix, faultyId, settings, wanted }: Opening) {
  const onFaulty: string[] = [];
  const others: string[] = [];
  for (let count = 0; count < MAX_ROOMS && (onFaulty.length < wanted || others.length === 0); count += 1) {
    const name = `${prefix}-${count}`;
    const { status, text } = await stage.client.call('POST', '/v1/rooms', { name, ...settings });
    if (status !== 201) throw new Error(`a room could not be opened: ${status} ${text}`);
    ((await stage.findHolder(name)) === faultyId ? onFaulty : others).push(name);
  }
  return { onFaulty, others };
}

/** Expected participants: identities by room name. A room without an entry must not exist. */
export type Truth = ReadonlyMap<string, readonly string[]>;

const POLL_INTERVAL_MS = 250;

/**
 * Resolves to the milliseconds until the service's lists match the expectation and do so for two seconds; at the deadline,
 * to a description of the last difference.
 */
export async function untilTrue(
  client: SignedClient,
  truth: () => Truth,
  options: { readonly prefix: string; readonly deadlineMs: number },
): Promise<number | string> {
  const startedAt = performance.now();
  let since: number | undefined;
  for (;;) {
    const difference = await differenceTo(client, truth(), options.prefix);
    const now = performance.now();
    since = difference === undefined ? (since ?? now) : undefined;
    if (since !== undefined && now - since > STEADY_MS) return since - startedAt;
    if (now - startedAt > options.deadlineMs) return difference ?? 'the lists were not steady';
    await delay(POLL_INTERVAL_MS);
  }
}

const STEADY_MS = 2_000;

async function differenceTo(client: SignedClient, truth: Truth, prefix: string): Promise<string | undefined> {
  const { status, json } = await client.call('GET', '/v1/rooms?limit=500');
  const listed: readonly Listed[] = Array.isArray(json.rooms) ? json.rooms : [];
  if (status !== 200) return `the list of rooms was ${status}`;
  const rooms = listed.filter(({ name }) => name.startsWith(`${prefix}-`));
  const unexpected = rooms.find(({ name }) => !truth.has(name));
  if (unexpected !== undefined) return `${unexpected.name} is listed`;
  for (const [name, identities] of truth) {
    const room = rooms.find((one) => one.name === name);
    if (room === undefined) return `${name} is not listed`;
    if (room.numParticipants !== identities.length)
      return `${name} has ${room.numParticipants} people by the list of rooms, and ${identities.length} in truth`;
    const { json: page } = await client.call('GET', `/v1/rooms/${name}/participants`);
    const people: readonly Listed[] = Array.isArray(page.participants) ? page.participants : [];
    const seen = people.map(({ identity }) => identity).toSorted();
    if (seen.join() !== [...identities].toSorted().join()) return `${name} has ${seen.join()} by its list`;
  }
  return undefined;
}

type Listed = { readonly name: string; readonly identity: string; readonly numParticipants: number };

/** Returns the events of a room that a webhook received, in the order of their sequence numbers. */
export function listEvents({ received }: Receiver, room: string): readonly string[] {
  return received
    .filter(({ body }) => body.room.name === room)
    .toSorted((one, other) => (one.body.sequence ?? 0) - (other.body.sequence ?? 0))
    .map(({ body }) => [body.event, body.participant?.identity].filter(Boolean).join(' '));
}
