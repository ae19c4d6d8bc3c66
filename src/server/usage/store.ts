import type { RoomPrefixes } from '../../contract/keys.ts';
/*
 * Usage: how much of what there was on each day in UTC, for invoices. A row belongs to one source (a room session, a
 * recording, a transcription), and writing the rows of a source again replaces them: whoever computes them, however often,
 * nothing counts twice. Rows have no identities and stay when the details of their source are deleted.
 *
 * The rows of room sessions are computed from presence (settle-usage.ts): every change of a session makes it due. Those of
 * what ends with an event are written in the transaction that stores the event (usage-rows.ts).
 */
export interface UsageStore {
  /** Replaces the rows of these kinds and sources. A row whose key is unknown gets the key of the room's session. */
  save(rows: readonly UsageRow[]): Promise<void>;
  /**
   * Computes the rows of at most `limit` sessions that are due at `dueBy`, those first that have waited longest. Sessions that
   * another transaction is working on are left out. Returns the number of sessions.
   */
  settle(query: SettleQuery): Promise<number>;
  /** Returns when the next session is due; undefined when none will be unless it changes. */
  findNextDue(): Promise<number | undefined>;
  /** Adds up groups in the order of their names. */
  list(query: UsageRequest): Promise<readonly UsageSums[]>;
  /** Deletes at most `limit` rows of days before `before`. Returns their number. */
  purge(before: number, limit: number): Promise<number>;
}

/** An open session is computed again after this time. */
export const RESETTLED_MS = 300_000;

export type UsageKind = 'participant' | 'room' | 'recording' | 'transcription' | 'broadcast' | 'ingress';

export type UsageRow = {
  readonly kind: UsageKind;
  /** Sid of the room session, or id of the egress or transcription. */
  readonly sourceId: string;
  /** Its beginning, in UTC. */
  readonly day: number;
  /** The role of a person's token, or `other`. Empty for everything else. */
  readonly role: string;
  /** The API key whose token the person had; of everything else, that of the room's first person. Empty when unknown. */
  readonly keyId: string;
  readonly room: string;
  /** The room session; empty when it is not known. */
  readonly roomSid: string;
  readonly ms: number;
  /** Maximum number of people at the same time on that day; only for rooms. */
  readonly peak: number;
  readonly bytes: number;
  /** 0 while the session is open. */
  readonly isFinal: 0 | 1;
};

export type SettleQuery = { readonly now: number; readonly dueBy: number; readonly limit: number };

export type UsageRequest = {
  /** Beginning of the first day. */
  readonly from: number;
  /** End of the last day. */
  readonly to: number;
  /** `total` adds up everything. */
  readonly by: 'day' | 'month' | 'room' | 'prefix' | 'key' | 'total';
  readonly room?: string | undefined;
  readonly prefix?: string | undefined;
  /** Only rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
};

/** Sums of one group, in milliseconds. */
export type UsageSums = {
  readonly group: string;
  readonly participant: number;
  readonly host: number;
  readonly moderator: number;
  readonly participantRole: number;
  readonly viewer: number;
  readonly room: number;
  readonly recording: number;
  readonly transcription: number;
  readonly broadcast: number;
  readonly ingress: number;
  readonly peak: number;
  readonly bytes: number;
  readonly lastDay: number;
  readonly isFinal: number;
};

export interface UsageStores {
  readonly usage: UsageStore;
}
