import type { Participant } from '../../../contract/participants.ts';
import type { Room } from '../../../contract/rooms.ts';

/** The attribute in which the service signs a participant's role. */
const ROLE_ATTRIBUTE = 'rtc.role';

export function roomLink(room: string): string {
  return `/rooms/${encodeURIComponent(room)}`;
}

/** Older media servers leave the milliseconds at 0. */
export function createdAtMs(room: Room): number {
  return Number(room.creationTimeMs) || Number(room.creationTime) * 1000;
}

/** The count of the room's newest event if there was one: the media server's own count is seconds late. */
export function participantsOf(room: Room, counts: ReadonlyMap<string, number>): number {
  return counts.get(room.sid) ?? room.numParticipants;
}

export function roleOf({ attributes }: Participant): string | undefined {
  return attributes[ROLE_ATTRIBUTE];
}

export function nameOf({ name, identity }: Participant): string {
  return name === '' ? identity : name;
}
