import { ADMITTED_TOPIC } from '../../contract/choices.ts';
import { ServiceError } from '../../contract/errors.ts';
import type { Participant } from '../../contract/participants.ts';
import { shellQuote } from '../../contract/shell-quote.ts';
import { readMembers } from '../../contract/unknown-value.ts';
import {
  type AdmittedList,
  type AdmittedPerson,
  MOST_ADMITTED,
  type WaitingList,
  type WaitingPerson,
} from '../../contract/waiting.ts';
import {
  type AppendEventsDeps,
  appendEvents,
  appendRoomEvent,
  appendRoomEvents,
  lockNamedRoom,
} from '../events/append-events.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import type { EventStores } from '../events/store.ts';
import { forEachConcurrently } from '../platform/jobs/concurrently.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';
import { findParticipant, type MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import { ensureNotBlocked, type FindBlock } from '../rooms/blocks/blocks.ts';
import { mustWait } from '../rooms/entry.ts';
import type { EntryDecision, RoomPerson, RoomStores } from '../rooms/store.ts';
import {
  buildAdmission,
  type OpenRoom,
  type OpenRoomDeps,
  requireOpenRoom,
  type SignTokenDeps,
  signToken,
} from '../rooms/token-routes.ts';
import {
  disconnectWaiting,
  readWaiting,
  type TokenPerson,
  type Waiting,
  waitingRoomName,
} from '../rooms/waiting-room.ts';

/*
 * People who wait until somebody admits or denies them. Who waits is known by the media server alone; what was decided about
 * a token that leads into a waiting room is a row, which the first decision makes:
 *
 *   waiting    the media server lists the person, and there is no decision about the token
 *   admitted   the person gets the token of the room by data, and again as long as the person is still in the waiting room;
 *              until that token expires, every further token of the identity is one of the room
 *   denied     the person is disconnected, and whenever the person comes again with the same token
 *
 * Every act may happen twice without harm: an event is stored once for each token. What an instance did not do because it
 * died, or because the media server did not respond, `sweepWaitingRooms` does.
 */

export type WaitingDeps = AppendEventsDeps<EventStores & RoomStores> &
  SignTokenDeps &
  OpenRoomDeps & {
    readonly mediaServer: Pick<
      MediaServer,
      'listRooms' | 'listParticipants' | 'getParticipant' | 'removeParticipant' | 'sendData'
    >;
    readonly findBlock: FindBlock;
    readonly log: Log;
  };

const REQUESTS_AT_ONCE = 8;

/** Lists who waits for the room, the longest first. The room need not be open. */
export async function listWaiting(deps: WaitingDeps, room: string): Promise<WaitingList> {
  const open = await requireOpenRoom(deps, room).catch(refusedToUndefined);
  const waiting = await findUndecided(deps, room);
  return { lobby: open?.plan?.lobby === true, waiting: waiting.map(toWaitingPerson) };
}

async function findUndecided(deps: WaitingDeps, room: string): Promise<readonly Waiting[]> {
  const present = await listPresent(deps, waitingRoomName(room));
  const decisions = await deps.store.entryDecisions.findAll(present.map(({ id }) => id));
  const decided = new Set(decisions.map(({ waitingId }) => waitingId));
  return present.filter(({ id }) => !decided.has(id)).toSorted((one, other) => one.since - other.since);
}

async function listPresent({ mediaServer }: WaitingDeps, waitingRoom: string): Promise<readonly Waiting[]> {
  const present = await mediaServer.listParticipants(waitingRoom);
  return present.flatMap((one) => readParticipant(waitingRoom, one) ?? []);
}

function readParticipant(waitingRoom: string, participant: Participant): Waiting | undefined {
  const joinedAt = Number(readMembers(participant).joinedAtMs) || Number(participant.joinedAt) * 1000;
  return readWaiting(waitingRoom, { ...participant, joinedAt });
}

function toWaitingPerson({ person: { identity, name, role }, since }: Waiting): WaitingPerson {
  return { identity, name, role, waitingSince: new Date(since).toISOString() };
}

/**
 * Admits somebody who waits, and sends the token of the room to the person. Somebody who was admitted already gets another
 * token. Throws waiting-not-found, conflict for somebody who was denied, room-closed, room-not-open-yet and
 * participant-blocked.
 */
export async function admitPerson(deps: WaitingDeps, subject: RoomPerson): Promise<AdmittedPerson> {
  const room = await requireOpenRoom(deps, subject.room);
  await ensureNotBlocked(deps.findBlock, subject);
  const waiting = await findWaiting(deps, subject);
  if (waiting !== undefined) {
    const [decision] = await decide(deps, [waiting], 'admitted');
    if (decision?.outcome === 'denied') throw decidedError(subject, 'denied');
    return await letIn(deps, waiting, room);
  }
  const last = await deps.store.entryDecisions.findLast(subject, deps.clock.now());
  if (last?.outcome !== 'admitted' || last.person === null) throw waitingNotFound(subject);
  const person: TokenPerson = JSON.parse(last.person);
  const token = signToken(deps, person, { ...room, admission: last.waitingId });
  await deps.store.entryDecisions.extend(last.waitingId, Date.parse(token.expiresAt));
  return toAdmitted(person, token);
}

/** Admits those who have waited longest. Those who are blocked stay, until they are disconnected. */
export async function admitAll(deps: WaitingDeps, name: string): Promise<AdmittedList> {
  const room = await requireOpenRoom(deps, name);
  const waiting = await findUndecided(deps, name);
  const some: Waiting[] = [];
  for (const one of waiting.slice(0, MOST_ADMITTED)) if (!(await isBlocked(deps, one))) some.push(one);
  const decisions = await decide(deps, some, 'admitted');
  const denied = new Set(
    decisions.filter(({ outcome }) => outcome === 'denied').map(({ waitingId }) => waitingId),
  );
  const admitted = new Map<string, AdmittedPerson>();
  await forEachConcurrently(
    some.filter(({ id }) => !denied.has(id)),
    REQUESTS_AT_ONCE,
    async (one) => void admitted.set(one.id, await letIn(deps, one, room)),
  );
  const inOrder = some.flatMap(({ id }) => admitted.get(id) ?? []);
  return { admitted: inOrder, ...(waiting.length > MOST_ADMITTED ? { admittedTruncated: true } : {}) };
}

/** Denies somebody who waits. Throws waiting-not-found, and conflict for somebody who was admitted. */
export async function denyPerson(deps: WaitingDeps, subject: RoomPerson): Promise<void> {
  const waiting = await findWaiting(deps, subject);
  if (waiting === undefined) {
    const last = await deps.store.entryDecisions.findLast(subject, deps.clock.now());
    if (last === undefined) throw waitingNotFound(subject);
    if (last.outcome === 'admitted') throw decidedError(subject, 'admitted');
    return;
  }
  const [decision] = await decide(deps, [waiting], 'denied');
  if (decision?.outcome === 'admitted') throw decidedError(subject, 'admitted');
  await disconnectWaiting(deps, subject);
}

async function findWaiting(
  { mediaServer }: WaitingDeps,
  { room, identity }: RoomPerson,
): Promise<Waiting | undefined> {
  const waitingRoom = waitingRoomName(room);
  const participant = await findParticipant(mediaServer, waitingRoom, identity);
  return participant && readParticipant(waitingRoom, participant);
}

function waitingNotFound({ room, identity }: RoomPerson): ServiceError {
  return new ServiceError(
    'waiting-not-found',
    `${JSON.stringify(identity)} does not wait for room ${JSON.stringify(room)}.`,
    { hint: { text: 'see who waits', command: `rtc rooms waiting ${shellQuote(room)}` } },
  );
}

function decidedError({ room, identity }: RoomPerson, outcome: EntryDecision['outcome']): ServiceError {
  const next =
    outcome === 'admitted'
      ? {
          text: 'remove the person from the room',
          command: `rtc participants remove ${shellQuote(room)} ${shellQuote(identity)}`,
        }
      : { text: 'give the person another token' };
  return new ServiceError(
    'conflict',
    `${JSON.stringify(identity)} was ${outcome} already, and the first decision counts.`,
    { hint: next },
  );
}

/** Tokens that LiveKit renews for a connection are valid for some minutes longer than the token that we issued. */
const DENIED_LONGER_MS = 3_600_000;

/** Stores decisions with their events, in one transaction. Returns those that count. */
async function decide(
  deps: WaitingDeps,
  waiting: readonly Waiting[],
  outcome: EntryDecision['outcome'],
): Promise<readonly EntryDecision[]> {
  const [first] = waiting;
  if (first === undefined) return [];
  const now = deps.clock.now();
  const type = outcome === 'admitted' ? 'participant_admitted' : 'participant_denied';
  return await appendEvents(deps, async (store, appender) => {
    const room = await lockNamedRoom(store, first.person.room);
    const counting: EntryDecision[] = [];
    const domainEvents: DomainEvent[] = [];
    for (const one of waiting) {
      const { person, tokenUntil } = one;
      const { decision, isNew } = await store.entryDecisions.decide({
        waitingId: one.id,
        room: person.room,
        identity: person.identity,
        outcome,
        decidedAt: now,
        person: outcome === 'admitted' ? JSON.stringify(person) : null,
        keptUntil: Math.max(
          outcome === 'admitted' ? now + person.ttl * 1000 : now + DENIED_LONGER_MS,
          tokenUntil,
        ),
      });
      counting.push(decision);
      // The person may have been decided upon before the event of its arrival was stored.
      if (isNew) domainEvents.push(toEvent('participant_waiting', one, one.since), toEvent(type, one, now));
    }
    await appendRoomEvents(store, appender, { room, domainEvents });
    return counting;
  });
}

function toEvent(
  type: 'participant_waiting' | 'participant_admitted' | 'participant_denied',
  { id, sid, since, person }: Waiting,
  occurredAt: number,
): DomainEvent {
  const { identity, name, role, metadata } = person;
  const about = { sid, identity, name, role, ...(metadata === undefined ? {} : { metadata }) };
  return {
    type,
    sourceId: `${type}:${id}`,
    occurredAt,
    isReconciled: false,
    subject: { participant: { ...about, waitingSince: new Date(since).toISOString() } },
  };
}

/** Sends the token of the room to somebody who was admitted, and only there. */
async function letIn(deps: WaitingDeps, { id, person }: Waiting, room: OpenRoom): Promise<AdmittedPerson> {
  const { token, data } = buildAdmission(deps, person, { ...room, admission: id });
  const message = { data, kind: 'reliable', topic: ADMITTED_TOPIC, identities: [person.identity] } as const;
  // Whoever admits has the token anyway, and the next comparison sends it again.
  await deps.mediaServer
    .sendData(waitingRoomName(person.room), message)
    .catch((err: unknown) => deps.log.warn({ err }, 'the token of somebody who was admitted was not sent'));
  return toAdmitted(person, token);
}

function toAdmitted(
  { identity, name, role }: TokenPerson,
  token: Pick<AdmittedPerson, 'token' | 'url' | 'expiresAt'>,
): AdmittedPerson {
  return { identity, name, role, ...token };
}

/** Receives an event of a waiting room. Resolves when the event that tells of somebody who waits is durable. */
export async function receiveWaiting(
  deps: WaitingDeps,
  { type, room, participant, createdAt }: MediaEvent,
): Promise<void> {
  if (type !== 'participant_joined' || room === undefined || participant === undefined) return;
  const joinedAt = participant.joinedAt ?? createdAt;
  const waiting = readWaiting(room.name, { ...participant, joinedAt });
  if (waiting === undefined) return;
  const [decision] = await deps.store.entryDecisions.findAll([waiting.id]);
  await settle(deps, waiting, { decision, isTold: false });
}

type Known = { readonly decision: EntryDecision | undefined; readonly isTold: boolean };

/** Does what is to be done about somebody in a waiting room. */
async function settle(deps: WaitingDeps, waiting: Waiting, { decision, isTold }: Known): Promise<void> {
  if (decision?.outcome === 'denied') return await disconnect(deps, waiting);
  const room = await requireOpenRoom(deps, waiting.person.room).catch(refusedToUndefined);
  if (room === undefined || (await isBlocked(deps, waiting))) return await disconnect(deps, waiting);
  if (decision !== undefined) return void (await letIn(deps, waiting, room));
  if (await entersAnyway(deps, waiting, room)) {
    const [counting] = await decide(deps, [waiting], 'admitted');
    if (counting?.outcome === 'admitted') await letIn(deps, waiting, room);
  } else if (!isTold) {
    await appendEvents(deps, async (store, appender) => {
      const named = await lockNamedRoom(store, waiting.person.room);
      const domainEvent = toEvent('participant_waiting', waiting, waiting.since);
      await appendRoomEvent(store, appender, { room: named, domainEvent });
    });
  }
}

/** Returns whether the person need not wait any more: the plan was changed, or the identity was admitted with another token. */
async function entersAnyway(
  { store, clock }: WaitingDeps,
  { person }: Waiting,
  { plan }: OpenRoom,
): Promise<boolean> {
  if (!mustWait(plan, person.role)) return true;
  return (await store.entryDecisions.findLast(person, clock.now()))?.outcome === 'admitted';
}

async function isBlocked({ findBlock }: WaitingDeps, { person }: Waiting): Promise<boolean> {
  try {
    await ensureNotBlocked(findBlock, person);
    return false;
  } catch (error) {
    if (isRefusal(error)) return true;
    throw error;
  }
}

function refusedToUndefined(error: unknown): undefined {
  if (!isRefusal(error)) throw error;
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return ['room-closed', 'room-not-open-yet', 'participant-blocked'].includes(error.code);
}

async function disconnect(deps: WaitingDeps, { person }: Waiting): Promise<void> {
  await disconnectWaiting(deps, person).catch((err: unknown) =>
    deps.log.warn({ err }, 'somebody who waits was not disconnected; the next comparison tries again'),
  );
}

/**
 * Does for everybody who waits what was not done yet: after lost events, changes of a plan, and instances that died. Never
 * rejects.
 */
export async function sweepWaitingRooms(
  deps: WaitingDeps,
  rooms: readonly { readonly name: string }[],
): Promise<void> {
  await forEachConcurrently(rooms, REQUESTS_AT_ONCE, ({ name }) =>
    sweepWaitingRoom(deps, name).catch((err: unknown) =>
      deps.log.warn({ err }, 'people who wait could not be looked after; the next comparison tries again'),
    ),
  );
}

async function sweepWaitingRoom(deps: WaitingDeps, name: string): Promise<void> {
  const present = await listPresent(deps, name);
  const ids = present.map(({ id }) => id);
  const found = await deps.store.entryDecisions.findAll(ids);
  const decisions = new Map(found.map((decision) => [decision.waitingId, decision]));
  const told = await deps.store.events.findKnown(ids.map((id) => `participant_waiting:${id}`));
  // An error about one person does not put off the others. They come one by one, because several rooms are looked after at once.
  const failures: unknown[] = [];
  for (const one of present) {
    const known = { decision: decisions.get(one.id), isTold: told.has(`participant_waiting:${one.id}`) };
    await settle(deps, one, known).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
