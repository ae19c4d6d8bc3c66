import { useQuery } from '@tanstack/react-query';
import type { Participant } from '../../../contract/participants.ts';
import type { Room } from '../../../contract/rooms.ts';
import { client } from '../api/client.ts';
import { KEYS, type LiveFacts } from '../api/query-keys.ts';

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

/**
 * Returns the names of the rooms that are recorded, which events keep up to date. A room has `activeRecording` only when its
 * recorder has joined, about which there is no event.
 */
export function useRecordedRooms(): ReadonlySet<string> {
  const { data } = useQuery({ queryKey: [...KEYS.recordings(), 'running'], queryFn: readRecordedRooms });
  return data ?? NO_ROOMS;
}

const NO_ROOMS: ReadonlySet<string> = new Set();

async function readRecordedRooms(): Promise<ReadonlySet<string>> {
  const rooms = new Set<string>();
  for await (const { roomId } of client.recordings.all({ status: 'recording' })) rooms.add(roomId);
  return rooms;
}

export function readRole({ attributes }: Participant): string | undefined {
  return attributes[ROLE_ATTRIBUTE];
}

export function displayName({ name, identity }: Participant): string {
  return name === '' ? identity : name;
}
