import { hasCode } from '../../contract/errors.ts';
import { nameFault } from '../../contract/names.ts';
import type { PlanSettings } from '../../contract/plans.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import type { RoomSession } from '../events/store.ts';
import type { Clock } from '../platform/clock.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import { mustWait, readEntryFrom } from '../rooms/entry.ts';
import type { FindPlan } from '../rooms/plans/plans.ts';
import { isHelper } from '../rooms/room-records.ts';
import type { RoomStores } from '../rooms/store.ts';
import { findNextDue } from './due-times.ts';
import { mayTrigger } from './starts.ts';

/** A session after some events. */
export type FollowedRoom = {
  readonly session: RoomSession | undefined;
  readonly domainEvents: readonly DomainEvent[];
  /** Undefined for a room without a plan. */
  readonly plan: PlanSettings | undefined;
  /** Number of participants after the events. */
  readonly present: number;
  readonly now: number;
};

const OF_PRESENCE: readonly string[] = [
  'room_created',
  'room_started',
  'participant_joined',
  'participant_left',
];

/** Notes in the transaction of the events what they change for the plan of their room. */
export async function followPlan(
  { plannedRooms }: Pick<RoomStores, 'plannedRooms'>,
  { session, domainEvents, plan, present, now }: FollowedRoom,
): Promise<void> {
  if (plan === undefined || session === undefined || session.endedAt !== null) return;
  await notePresence(plannedRooms, { session, domainEvents, plan, present, now });
  if (mayTrigger(plan, domainEvents)) await plannedRooms.trigger(session.sid, now);
}

type Followed = FollowedRoom & { readonly session: RoomSession; readonly plan: PlanSettings };

async function notePresence(
  plannedRooms: RoomStores['plannedRooms'],
  { session, domainEvents, plan, present, now }: Followed,
): Promise<void> {
  const last = domainEvents.findLast(({ type }) => OF_PRESENCE.includes(type));
  if (last === undefined) return;
  const { sid, name: room } = session;
  const startedAt = session.startedAt === null ? null : toOwnTime(session.startedAt, last, now);
  const aloneSince = present === 1 ? toOwnTime(last.occurredAt, last, now) : null;
  const dueAt = findNextDue(plan, { startedAt, aloneSince }, now) ?? null;
  const createdAt = toOwnTime(session.createdAt, last, now);
  await plannedRooms.note({ sid, room, createdAt, startedAt, aloneSince, dueAt, now });
}

type EndedRoom = { readonly domainEvents: readonly DomainEvent[] };

/**
 * Forgets the planned rooms whose sessions end with these events, in the transaction of the events. Returns the events: the
 * end of a room tells why its plan has closed it.
 */
export async function endPlans<Ended extends EndedRoom>(
  { plannedRooms }: Pick<RoomStores, 'plannedRooms'>,
  rooms: readonly (Ended & { readonly session: Pick<RoomSession, 'sid'> })[],
): Promise<readonly Ended[]> {
  const sids = rooms.flatMap(({ session, domainEvents }) => (domainEvents.some(isEnd) ? [session.sid] : []));
  if (sids.length === 0) return rooms;
  const ended = await plannedRooms.end(sids);
  const reasons = new Map(ended.map(({ sid, closeReason }) => [sid, closeReason]));
  return rooms.map((room) => {
    const closeReason = reasons.get(room.session.sid);
    if (closeReason == null) return room;
    const tell = (one: DomainEvent): DomainEvent =>
      isEnd(one) ? { ...one, subject: { ...one.subject, closeReason } } : one;
    return { ...room, domainEvents: room.domainEvents.map(tell) };
  });
}

function isEnd({ type }: DomainEvent): boolean {
  return type === 'room_finished';
}

/** A difference above this is a wrong clock, not a slow report. */
const MOST_APART_MS = 60_000;

/**
 * Returns `at`, or `now` if the event's time shows that the media server's clock is wrong. A reconciled event is really as old
 * as it says.
 */
function toOwnTime(at: number, { isReconciled, occurredAt }: DomainEvent, now: number): number {
  return isReconciled || Math.abs(occurredAt - now) <= MOST_APART_MS ? at : now;
}

export type RemoveUnplannedDeps = {
  readonly findPlan: FindPlan;
  readonly clock: Pick<Clock, 'now'>;
  readonly mediaServer: Pick<MediaServer, 'removeParticipant'>;
  readonly log: Log;
};

/**
 * Removes somebody who has just joined with a token from before the plan: the room is not open yet, or the person must wait.
 * Whoever comes with a token of another program has no role of ours, and does not wait. Never rejects.
 */
export async function removeUnplanned(
  { findPlan, clock, mediaServer, log }: RemoveUnplannedDeps,
  { type, room, participant }: MediaEvent,
): Promise<void> {
  if (type !== 'participant_joined' || room === undefined || participant === undefined) return;
  const { kind, isHidden, identity, accessRole, admission } = participant;
  if (isHelper({ kind, permission: { hidden: isHidden } })) return;
  // Tokens that another program issued may have names that we reject and that no PostgreSQL column can hold.
  if (nameFault(room.name) !== undefined) return;
  try {
    const plan = await findPlan(room.name);
    if (plan === undefined) return;
    const mustStillWait = accessRole !== undefined && admission === undefined && mustWait(plan, accessRole);
    if (readEntryFrom(plan) <= clock.now() && !mustStillWait) return;
    await mediaServer.removeParticipant(room.name, identity);
  } catch (err) {
    if (hasCode(err, 'participant-not-found')) return;
    log.warn({ err }, 'removing somebody who joined although the plan does not allow it failed');
  }
}
