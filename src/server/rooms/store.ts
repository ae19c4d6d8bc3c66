/** An identity that may not be in a room. Rooms go by their names, so that a block outlasts the room's session. */
export type Block = {
  readonly room: string;
  readonly identity: string;
  readonly createdAt: number;
  /** Null for ever. A block whose time has come is no block any more, whether its row is there or not. */
  readonly blockedUntil: number | null;
};

export interface BlockStore {
  /** Replaces the block that the identity has in this room, if any. */
  save(block: Block): Promise<void>;
  /** Undefined for an identity that is not blocked at `now`. */
  find(subject: BlockSubject, now: number): Promise<Block | undefined>;
  /** At most `limit` of all rooms' blocks that last at `now`. */
  listLasting(now: number, limit: number): Promise<readonly Block[]>;
  /** Returns the blocks in order of identity, after `after`. */
  list(query: BlockQuery): Promise<readonly Block[]>;
  /** False when the identity is not blocked at `now`. */
  delete(subject: BlockSubject, now: number): Promise<boolean>;
  /** Returns the identities that are blocked in a room and present in it, as far as events have reported. */
  listPresent(now: number): Promise<readonly BlockSubject[]>;
  /** Deletes at most `limit` blocks that ended before `now`; returns how many. */
  purge(now: number, limit: number): Promise<number>;
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
