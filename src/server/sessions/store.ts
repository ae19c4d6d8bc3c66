import type { RoomSession } from '../events/store.ts';

/*
 * Room sessions as they are read: presence (see events/store.ts), which the transaction of every event keeps current,
 * with figures that are computed from it at each read. An event that comes late, or that the comparison with the media
 * server makes up for, is therefore counted at once, and where it belongs.
 *
 * One person is one identity: time in which two connections of an identity overlap counts once.
 */
export interface SessionStore {
  /** Newest first, by (createdAt, sid); no trial rooms of rtc doctor. */
  list(query: SessionQuery): Promise<readonly SessionRow[]>;
  find(sid: string, now: number): Promise<SessionRow | undefined>;
  /** The connections of participants, by (joinedAt, sid); no recorders and agents. */
  listStays(query: StayQuery): Promise<readonly Stay[]>;
}

export type SessionRow = Omit<RoomSession, 'sequence'> & {
  /** Different identities. */
  readonly totalParticipants: number;
  /** Most identities at the same time. */
  readonly peakParticipants: number;
  /** Time of all participants together. */
  readonly participantMs: number;
};

export type SessionState = 'open' | 'ended';

export type SessionQuery = {
  readonly room?: string | undefined;
  readonly status?: SessionState | undefined;
  /** Opened at this instant or later. */
  readonly since?: number | undefined;
  /** Opened before this instant. */
  readonly until?: number | undefined;
  /** Until then who is present has been there. */
  readonly now: number;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type StayQuery = {
  readonly roomSid: string;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type Stay = {
  readonly sid: string;
  readonly identity: string;
  readonly name: string;
  readonly accessRole: string | null;
  readonly joinedAt: number;
  readonly leftAt: number | null;
};

export interface SessionStores {
  readonly sessions: SessionStore;
}
