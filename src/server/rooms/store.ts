import type { RoomPrefixes } from '../../contract/keys.ts';
import type { KeyQuota } from '../platform/http/limits/key-limits.ts';
import type { LastingQuery, RowsOverTime } from '../platform/storage/row-cache.ts';

/** An identity that may not be in a room. Blocks are stored by the room's name, so that they outlive a session. */
export type Block = {
  readonly room: string;
  readonly identity: string;
  readonly createdAt: number;
  /** Null for a permanent block. A block whose end has passed is ignored, even if its row still exists. */
  readonly blockedUntil: number | null;
};

/** A block whose end has passed does not last. A lifted one ended in 1970. */
export interface BlockStore extends RowsOverTime<Block, BlockSubject> {
  /**
   * Replaces the block that the identity has in this room, if any; one that lasts remains with the key that made it. Returns
   * false, and changes nothing, when there is none and the key has as many blocks as it may. Without a quota it is the root
   * key's.
   */
  save(block: Block, quota?: KeyQuota): Promise<boolean>;
  /** Counts the blocks by the key that are in force at `now`. */
  countOfKey(keyId: string, now: number): Promise<number>;
  /** Lists the blocks in the order of identity, after `after`. */
  list(query: BlockQuery): Promise<readonly Block[]>;
  /** Ends a block. Returns false when the identity is not blocked at `now`. */
  delete(subject: BlockSubject, now: number): Promise<boolean>;
  /** Lists the identities that are blocked in a room and, according to events, present in it. */
  listPresent(now: number): Promise<readonly BlockSubject[]>;
  /** Deletes at most `limit` blocks that ended or were lifted before `before`. Returns their number. */
  purge(before: number, limit: number): Promise<number>;
}

export type BlockSubject = { readonly room: string; readonly identity: string };

export type BlockQuery = {
  readonly room: string;
  readonly now: number;
  readonly after: string | undefined;
  readonly limit: number;
};

/** What the service itself knows of a room, by its name: this outlives the session. */
export type RoomRecord = RoomSettingsKept & {
  readonly room: string;
  /**
   * Whom the room is closed to. `helpers` are recorders, captioners and streams, which may arrive after the end of the room
   * for which they were started. Null for nobody.
   */
  readonly closedTo: 'helpers' | 'everyone' | null;
  readonly closedAt: number | null;
  /** Null for ever. */
  readonly closedUntil: number | null;
  /** The session that was open when the room was closed. Another one was opened by whoever came although it is closed. */
  readonly closedSid: string | null;
  /** When the row may be deleted; null for never. */
  readonly keptUntil: number | null;
};

/** The settings that the room was opened with; null for those of the media server. */
export type RoomSettingsKept = {
  readonly maxParticipants: number | null;
  readonly emptyTimeout: number | null;
  readonly departureTimeout: number | null;
  readonly metadata: string | null;
};

export type RoomKey = { readonly room: string };

export interface RoomRecordStore extends RowsOverTime<RoomRecord, RoomKey> {
  /** Replaces the record of the room, if any. */
  save(record: RoomRecord): Promise<void>;
  /** Lists the rooms that are closed to everyone at `now`, in the order of their names, after `after`. */
  listClosed(query: ClosedQuery): Promise<readonly RoomRecord[]>;
  /** Counts the rooms that are closed to everyone at `now`, up to `limit`. */
  countClosed(now: number, limit: number): Promise<number>;
  /** Whether a room is closed to somebody at `now`. */
  isAnyClosed(now: number): Promise<boolean>;
  /** Returns those of the rooms that are closed to somebody at `now`. */
  findClosed(rooms: readonly string[], now: number): Promise<readonly RoomRecord[]>;
  /** Deletes at most `limit` records whose time was over before `before`, and notes ended closures. Returns their number. */
  purge(before: number, limit: number): Promise<number>;
  /** Deletes at most `limit` of the oldest records of settings, beyond the newest `kept`. Returns their number. */
  trim(kept: number, limit: number): Promise<number>;
}

export interface RoomStores {
  readonly rooms: RoomRecordStore;
  readonly blocks: BlockStore;
}

export type ClosedQuery = LastingQuery<RoomKey> & {
  /** Only rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
};
