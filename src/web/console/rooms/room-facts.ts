import type { Participant } from '../../../contract/participants.ts';
import type { Room } from '../../../contract/rooms.ts';
import type { LiveFacts } from '../api/live-facts.ts';

/** The attribute in which the service signs a participant's role. */
const ROLE_ATTRIBUTE = 'rtc.role';

export function roomLink(room: string): string {
  return `/rooms/${encodeURIComponent(room)}`;
}

/** Older media servers leave the milliseconds at 0. */
export function createdAtMs(room: Room): number {
  return Number(room.creationTimeMs) || Number(room.creationTime) * 1000;
}

/** Returns the count of the room's newest event if there is one, because the media server's own count is seconds late. */
export function countParticipants(room: Room, { participants }: LiveFacts): number {
  return participants.get(room.sid) ?? room.numParticipants;
}

/** Includes the newest event, because the media server reports the recorder only after it has joined. */
export function isRecorded(room: Room, { recordings }: LiveFacts): boolean {
  return recordings.get(room.sid) ?? room.activeRecording;
}

export function readRole({ attributes }: Participant): string | undefined {
  return attributes[ROLE_ATTRIBUTE];
}

export function displayName({ name, identity }: Participant): string {
  return name === '' ? identity : name;
}
