import type { RoomPrefixes } from '../../contract/keys.ts';
import type { RoomSession } from '../events/store.ts';

/*
 * Reads room sessions: presence (see events/store.ts), which the transaction of every event updates, with figures that are
 * computed from it at each read. An event that arrives late, or that the comparison with the media server adds, is therefore
 * included at once, at its own time.
 *
 * One identity counts as one person: time in which two connections of an identity overlap counts once.
 */
export interface SessionStore {
  /** Lists sessions by (createdAt, sid), the newest first, without the probe rooms of `rtc doctor`. */
  list(query: SessionQuery): Promise<readonly SessionRow[]>;
  find(sid: string, now: number): Promise<SessionRow | undefined>;
  /** Counts the open rooms that begin so, without the room `except`, up to `limit`. */
  countOpen(query: OpenQuery): Promise<number>;
  /** Counts the people in open rooms that begin so, without a person in the room `except`, up to `limit`. */
  countPresent(query: OpenQuery & { readonly identity?: string | undefined }): Promise<number>;
  isOpen(room: string): Promise<boolean>;
  /** Lists the connections of participants by (joinedAt, sid), without recorders and agents. */
  listConnections(query: ConnectionQuery): Promise<readonly ParticipantConnection[]>;
}

export type SessionRow = Omit<RoomSession, 'sequence'> & {
  /** Number of different identities. */
  readonly totalParticipants: number;
  /** Maximum number of identities at the same time. */
  readonly peakParticipants: number;
  /** Sum of the time of all participants. */
  readonly participantMs: number;
};

export type SessionState = 'open' | 'ended';

export type SessionQuery = {
  readonly room?: string | undefined;
  /** Only sessions of rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
  readonly status?: SessionState | undefined;
  /** Only sessions that were opened at this instant or later. */
  readonly since?: number | undefined;
  /** Only sessions that were opened before this instant. */
  readonly until?: number | undefined;
  /** End of the time of participants who are still present. */
  readonly now: number;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type OpenQuery = {
  readonly rooms: RoomPrefixes;
  readonly except?: string | undefined;
  readonly limit: number;
};

export type ConnectionQuery = {
  readonly roomSid: string;
  readonly limit: number;
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
};

export type ParticipantConnection = {
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
