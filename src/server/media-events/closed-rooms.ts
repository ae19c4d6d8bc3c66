import { nameFault } from '../../contract/names.ts';
import type { Participant } from '../../contract/participants.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import type { RoomSession } from '../events/store.ts';
import { toInstant } from '../platform/clock.ts';
import { decideEntry, type Entrant } from '../rooms/entry.ts';
import { type FindRoomRecord, isHelper } from '../rooms/room-records.ts';
import type { RoomRecord } from '../rooms/store.ts';

/*
 * LiveKit opens a closed room again for whoever has an older token. No event of such a session is published: it is not "told",
 * because it is no call that anybody made. It is withheld instead: stored as ended without an event, so that nothing of it is
 * told later either, and its room is deleted (rooms/room-records.ts). As soon as a person who may be in the room joins, the session
 * is told like any other.
 */

/** Returns whether the room of the session was opened although it is closed. Every other stored session has an event. */
export function isWithheld({ sequence, startedAt, endedAt }: RoomSession): boolean {
  return sequence === 0 && startedAt === null && endedAt !== null;
}

export function withhold(session: RoomSession): RoomSession {
  return { ...session, endedAt: session.createdAt };
}

/** Returns the session as one that is told. */
export function tell(session: RoomSession): RoomSession {
  return isWithheld(session) ? { ...session, endedAt: null } : session;
}

/**
 * Returns whether the entrant may not open this session of the room. A session that has been told stays told: it was open
 * before the room was closed.
 */
export function isRefused(
  session: RoomSession,
  record: RoomRecord,
  { entrant, now }: { readonly entrant: Entrant; readonly now: number },
): boolean {
  const isTold = session.sequence > 0 || session.startedAt !== null;
  if (isTold || session.sid === record.closedSid) return false;
  return !decideEntry(record, entrant, now).isAllowed;
}

/** Returns the session as it is told when a comparison finds its room open; undefined when nothing is told. */
export function findTold(
  session: RoomSession,
  closed: RoomRecord | undefined,
  { participants, now }: { readonly participants: readonly Participant[]; readonly now: number },
): RoomSession | undefined {
  const entrant = participants.every(isHelper) ? 'helper' : 'person';
  if (closed !== undefined && isRefused(session, closed, { entrant, now })) return undefined;
  return isWithheld(session) && entrant === 'helper' ? undefined : tell(session);
}

/** The event is told once for each time that the room was closed. */
export function refusedJoinEvent(
  { room, closedAt, closedUntil }: RoomRecord,
  participant: { readonly sid: string; readonly identity: string; readonly name: string },
  occurredAt: number,
): DomainEvent {
  const { sid, identity, name } = participant;
  return {
    type: 'room_join_refused',
    sourceId: `room_join_refused:${closedAt}:${room}`,
    subject: {
      participant: { sid, identity, name },
      closedUntil: toInstant(closedUntil),
    },
    occurredAt,
    isReconciled: false,
  };
}

/** Returns which of the rooms are closed to somebody, mostly from memory. */
export async function findClosedRooms(
  findRoomRecord: FindRoomRecord,
  rooms: Iterable<string | undefined>,
): Promise<ReadonlyMap<string, RoomRecord>> {
  const closed = new Map<string, RoomRecord>();
  for (const room of new Set(rooms)) {
    // Tokens that another program issued may have names that we reject and that no PostgreSQL column can hold.
    if (room === undefined || nameFault(room) !== undefined) continue;
    const record = await findRoomRecord({ room });
    if (record !== undefined && record.closedTo !== null) closed.set(room, record);
  }
  return closed;
}
