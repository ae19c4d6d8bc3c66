import type { CloseReason, PLANNED_STARTS } from '../../contract/choices.ts';
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
  /** Lists the blocks of all rooms, or of those that begin so, by room and identity. */
  listOfRooms(query: BlocksQuery): Promise<readonly Block[]>;
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

/** The service's own knowledge of a room, by its name: it outlives the session. */
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

/** The settings that the room was opened with; null for the media server's defaults. */
export type RoomSettingsKept = {
  readonly maxParticipants: number | null;
  readonly emptyTimeout: number | null;
  readonly departureTimeout: number | null;
  readonly metadata: string | null;
  /** The plan that POST /v1/rooms has made for this room, as JSON text; null for none. */
  readonly plan: string | null;
};

export type RoomKey = { readonly room: string };

export interface RoomRecordStore extends RowsOverTime<RoomRecord, RoomKey> {
  /** Replaces the records of these rooms, if any; each room may be there once. */
  save(...records: readonly RoomRecord[]): Promise<void>;
  /** Lists the rooms that are closed to everyone at `now`, in the order of their names, after `after`. */
  listClosed(query: ClosedQuery): Promise<readonly RoomRecord[]>;
  /** Counts the rooms that are closed to everyone at `now`, up to `limit`. */
  countClosed(now: number, limit: number): Promise<number>;
  /** Returns whether a room is closed to somebody at `now`. */
  isAnyClosed(now: number): Promise<boolean>;
  /** Returns the records of these rooms, straight from the database. */
  findAll(rooms: readonly string[], now: number): Promise<readonly RoomRecord[]>;
  /** Returns which of the rooms are closed to somebody at `now`. */
  findClosed(rooms: readonly string[], now: number): Promise<readonly RoomRecord[]>;
  /** Deletes at most `limit` records whose time was over before `before`, and notes ended closures. Returns their number. */
  purge(before: number, limit: number): Promise<number>;
  /** Deletes at most `limit` of the oldest records of settings, beyond the newest `kept`. Returns their number. */
  trim(kept: number, limit: number): Promise<number>;
}

/** Settings for the rooms that `subject` stands for: see toSubject in plans/plans.ts. */
export type PlanRecord = PlanKey & {
  readonly id: string;
  /** JSON text of PlanSettings. */
  readonly settings: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The key that made it. */
  readonly createdBy: string;
  /** Set while other instances may not have seen yet that the plan is gone. */
  readonly deletedAt: number | null;
};

export type PlanKey = { readonly subject: string };

export interface PlanStore extends RowsOverTime<PlanRecord, PlanKey> {
  /** Returns the plan, unless it is outside `rooms`. */
  findById(id: string, rooms?: RoomPrefixes): Promise<PlanRecord | undefined>;
  /** Returns the plans of these subjects, straight from the database. */
  findAll(subjects: readonly string[]): Promise<readonly PlanRecord[]>;
  /** Lists plans in the order of their ids. */
  list(query: PlanQuery): Promise<readonly PlanRecord[]>;
  count(): Promise<number>;
  /** Counts the plans that the key has made. */
  countOfKey(keyId: string): Promise<number>;
  /** Waits for other transactions that change plans, until this one ends. */
  lock(): Promise<void>;
  /**
   * Adds the plan, or replaces it. Returns false, and changes nothing, when another one has its id or its subject, or when its
   * key has `limit` plans.
   */
  save(plan: PlanRecord, limit: number): Promise<boolean>;
  /** Ends the plan, unless it is outside `rooms`, and returns it. */
  end(id: string, now: number, rooms?: RoomPrefixes): Promise<PlanRecord | undefined>;
  /** Deletes at most `limit` rows of plans that were deleted before `before`. Returns their number. */
  purge(before: number, limit: number): Promise<number>;
}

/** An open session of a room that has a plan, and when something is to be done about it. */
export type PlannedRoom = {
  readonly sid: string;
  readonly room: string;
  readonly createdAt: number;
  /** When the first participant joined. */
  readonly startedAt: number | null;
  /** Since when one participant has been alone, according to events. */
  readonly aloneSince: number | null;
  /** The end that `warnedAt` belongs to. */
  readonly closesAt: number | null;
  /** When the last warning was due that was given. */
  readonly warnedAt: number | null;
  /** Set when the room is being closed. */
  readonly closeReason: CloseReason | null;
  /**
   * When the room is to be looked at: the next warning, its end, or the end of a claim. It may be too early, and is never
   * too late. Null for never.
   */
  readonly dueAt: number | null;
  /** Set when everything that the plan starts has been begun: no event can trigger a start any more. */
  readonly triggeredAt: number | null;
};

/** The presence in a planned room, as events report it. */
export type PlannedPresence = Pick<
  PlannedRoom,
  'sid' | 'room' | 'createdAt' | 'startedAt' | 'aloneSince' | 'dueAt'
> & { readonly now: number };

export type DueClaim = { readonly now: number; readonly until: number; readonly limit: number };

/** The end of a claim is moved on. */
export type DueRenewal = { readonly from: number; readonly to: number };

type Closing = { readonly sid: string; readonly closeReason: CloseReason };

export interface PlannedRoomStore {
  /** Adds the room as due at once, or notes the presence. A room that is there becomes due no later than before. */
  note(presence: PlannedPresence): Promise<void>;
  /** Forgets these rooms, whose sessions have ended, with their starts, and returns them. */
  end(sids: readonly string[]): Promise<readonly PlannedRoom[]>;
  /** Makes the room due at once, unless everything that its plan starts has been begun. */
  trigger(sid: string, now: number): Promise<void>;
  /** Makes the open rooms of these subjects due at once, because their plan has changed. Returns their number. */
  markDue(subjects: readonly string[], now: number): Promise<number>;
  /** Claims at most `limit` rooms that are due: nobody else gets them before `until`, to which their dueAt is set. */
  claim(claim: DueClaim): Promise<readonly PlannedRoom[]>;
  /** Extends the claim of each of the rooms whose claim still ends then. */
  renew(rooms: readonly Pick<PlannedRoom, 'sid'>[], renewal: DueRenewal): Promise<void>;
  /** Saves claimed rooms, unless events have made them due earlier in the meantime. */
  settle(rooms: readonly PlannedRoom[], until: number): Promise<void>;
  /** Notes why rooms are closed, unless it is known already. Returns the sids of those whose sessions have not ended. */
  noteClosing(closing: readonly Closing[]): Promise<ReadonlySet<string>>;
  /** Notes that nobody is alone in the room. */
  forgetAlone(sid: string): Promise<void>;
  /** Returns when the next room is due. */
  nextDueAt(): Promise<number | undefined>;
  /** Returns names of open rooms which are not planned rooms, after `after`, in their order. */
  listUnplanned(after: string | undefined, limit: number): Promise<readonly string[]>;
  /** Deletes rooms whose sessions have ended or are unknown and that were added before `before`. */
  purge(before: number): Promise<void>;
}

/** Whether somebody who waited was admitted. It is about one token that leads into a waiting room. */
export type EntryDecision = {
  /** Id of that token: see waiting-room.ts. */
  readonly waitingId: string;
  readonly room: string;
  readonly identity: string;
  readonly outcome: 'admitted' | 'denied';
  /** The person as the token of the room needs it, as JSON text; null for somebody who was denied. */
  readonly person: string | null;
  readonly decidedAt: number;
  /** Until when it counts: no token of the person is valid for longer. */
  readonly keptUntil: number;
};

export interface EntryDecisionStore {
  /** Stores the decision, unless there is one about this token. Returns the one that counts, and whether it is this one. */
  decide(decision: EntryDecision): Promise<{ readonly decision: EntryDecision; readonly isNew: boolean }>;
  /** Returns what was decided about these tokens. */
  findAll(waitingIds: readonly string[]): Promise<readonly EntryDecision[]>;
  /** Returns what was decided about the person last, as far as it counts at `now`. */
  findLast(person: RoomPerson, now: number): Promise<EntryDecision | undefined>;
  /** Lets the decision count until this instant, or for as long as before. */
  extend(waitingId: string, keptUntil: number): Promise<void>;
  /** Deletes what was decided about the identity, in all rooms without a room. */
  forget(person: { readonly identity: string; readonly room: string | undefined }): Promise<void>;
  /** Deletes at most `limit` decisions that ended before `before`. Returns their number. */
  purge(before: number, limit: number): Promise<number>;
}

export type RoomPerson = { readonly room: string; readonly identity: string };

/** A recording or transcription that the plan of a session has begun to start. */
export type PlannedStart = {
  readonly sid: string;
  readonly starts: (typeof PLANNED_STARTS)[number];
  readonly room: string;
  /** When it is tried next, or the end of a claim. Null when it was started. */
  readonly dueAt: number | null;
};

type StartKey = Pick<PlannedStart, 'sid' | 'starts'>;

export interface PlannedStartStore {
  /** Adds the starts that are not there yet, due at once. */
  add(starts: readonly Omit<PlannedStart, 'dueAt'>[], now: number): Promise<void>;
  /** Returns of the sessions those in which a track was published, and those in which a host has been. */
  findTriggers(sids: readonly string[]): Promise<{
    readonly published: ReadonlySet<string>;
    readonly hosted: ReadonlySet<string>;
  }>;
  /** Claims at most `limit` starts that are due: nobody else gets them before `until`, to which their dueAt is set. */
  claim(claim: DueClaim): Promise<readonly PlannedStart[]>;
  /** Extends the claim of each of the starts whose claim still ends then. */
  renew(starts: readonly StartKey[], renewal: DueRenewal): Promise<void>;
  /** Sets when a claimed start is tried next; null when it was started. */
  settle(start: StartKey, dueAt: number | null): Promise<void>;
  /** Forgets a start that is not planned any more. */
  remove(start: StartKey): Promise<void>;
  /** Returns when the next start is due. */
  nextDueAt(): Promise<number | undefined>;
}

export interface RoomStores {
  readonly rooms: RoomRecordStore;
  readonly plans: PlanStore;
  readonly plannedRooms: PlannedRoomStore;
  readonly plannedStarts: PlannedStartStore;
  readonly blocks: BlockStore;
  readonly entryDecisions: EntryDecisionStore;
}

export type PlanQuery = {
  readonly after: string | undefined;
  readonly limit: number;
  /** Only plans whose room or prefix begins so. */
  readonly rooms?: RoomPrefixes | undefined;
};

export type BlocksQuery = LastingQuery<BlockSubject> & {
  /** Only rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
};

export type ClosedQuery = LastingQuery<RoomKey> & {
  /** Only rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
};
