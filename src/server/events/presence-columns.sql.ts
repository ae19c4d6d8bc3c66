import { sql } from 'kysely';
import type { ParticipantSession, PublishedTrack, RoomSession } from './store.ts';

export const ROOM_COLUMNS: readonly (keyof RoomSession)[] = [
  ...(['sid', 'name', 'createdAt', 'startedAt', 'endedAt', 'sequence'] as const),
];

export const PARTICIPANT_COLUMNS: readonly (keyof ParticipantSession)[] = [
  ...(['sid', 'roomSid', 'identity', 'name', 'role'] as const),
  ...(['joinedAt', 'leftAt', 'metadata', 'accessRole'] as const),
];

export const TRACK_COLUMNS: readonly (keyof PublishedTrack)[] = [
  ...(['sid', 'participantSid', 'roomSid', 'track', 'publishedAt', 'unpublishedAt'] as const),
];

/** Whether a row is a participant who has joined and not left. */
export const isPresent = sql`role = 'participant' and "leftAt" is null and "joinedAt" is not null`;
