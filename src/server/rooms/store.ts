import type { KeyQuota } from '../platform/http/limits/key-limits.ts';

/** An identity that may not be in a room. Blocks are stored by the room's name, so that they outlive a session. */
export type Block = {
  readonly room: string;
  readonly identity: string;
  readonly createdAt: number;
  /** Null for a permanent block. A block whose end has passed is ignored, even if its row still exists. */
  readonly blockedUntil: number | null;
};

/** A block with the number of its last change. */
export type NumberedBlock = Block & { readonly changeNumber: number };

export type LastingQuery = {
  readonly now: number;
  readonly after: BlockSubject | undefined;
  readonly limit: number;
};

export interface BlockStore {
  /**
   * Replaces the block that the identity has in this room, if any; one that lasts remains with the key that made it. Returns
   * false, and changes nothing, when there is none and the key has as many blocks as it may. Without a quota it is the root
   * key's.
   */
  save(block: Block, quota?: KeyQuota): Promise<boolean>;
  /** Counts the blocks by the key that are in force at `now`. */
  countOfKey(keyId: string, now: number): Promise<number>;
  /** Returns undefined for an identity that is not blocked at `now`. */
  find(subject: BlockSubject, now: number): Promise<Block | undefined>;
  /** Lists at most `limit` blocks of all rooms that are in force at `now`, by room and identity, after `after`. */
  listLasting(query: LastingQuery): Promise<readonly Block[]>;
  /** Returns the number of the last change of any block. Changes have numbers in the order in which they are committed. */
  lastChange(): Promise<number>;
  /** Lists at most `limit` blocks that were changed after this change, in their order; lifted ones ended in 1970. */
  listChanged(after: number, limit: number): Promise<readonly NumberedBlock[]>;
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

export interface RoomStores {
  readonly blocks: BlockStore;
}
