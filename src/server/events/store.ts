import type { WebhookStores } from '../webhooks/store.ts';

/*
 * Events: what happened in rooms, kept in the order in which it was stored.
 *
 *   position   counts all events of the store, in the order in which they became visible: who has read up to a
 *              position has missed nothing before it, also with several instances. It is what cursors carry. Storing
 *              an event therefore makes the other instances' events wait until its transaction ends.
 *   sequence   counts the events of one room session (sid), from 1; null for an event without a room session.
 *   sourceId   the media server's own id of the event (`EV_…`), or another name that only this happening can have;
 *              unique, so that what comes twice is stored once.
 */
export interface EventStore {
  /** Undefined when the sourceId is known already: then nothing is stored. */
  insert(event: NewEvent): Promise<StoredEvent | undefined>;
  /** Many at a few statements' cost: those that were stored, in their order; the known ones are left out. */
  insertAll(events: readonly NewEvent[]): Promise<readonly StoredEvent[]>;
  /** Which of them are stored already. */
  findKnown(sourceIds: readonly string[]): Promise<ReadonlySet<string>>;
  find(id: string): Promise<StoredEvent | undefined>;
  /** By position, after `afterPosition`. */
  list(query: EventQuery): Promise<readonly StoredEvent[]>;
  /** Of the last event ever stored, also when it was purged; 0 when there was none. */
  lastPosition(): Promise<number>;
  /** Deletes at most `limit` of the oldest, stored before `before`, that no pending delivery needs; how many. */
  purge(before: number, limit: number): Promise<number>;
}

export type NewEvent = {
  readonly id: string;
  readonly sourceId: string;
  /** The delivery table's name, such as participant_joined. */
  readonly type: string;
  readonly room: string | null;
  readonly roomSid: string | null;
  readonly sequence: number | null;
  /** The delivery payload as JSON text but for `event`, and with the object's key where a file URL will be. */
  readonly payload: string;
  /** When it happened. */
  readonly occurredAt: number;
  readonly createdAt: number;
};

export type StoredEvent = NewEvent & { readonly position: number };

export type EventQuery = {
  readonly afterPosition: number;
  readonly room?: string | undefined;
  readonly types?: readonly string[] | undefined;
  /** Created at this instant or later. */
  readonly since?: number | undefined;
  readonly limit: number;
};

/*
 * Presence: who is in which room session, by the media server's sids, as its events told. A row stays after the
 * end, so that what comes late is known for late; old ended ones are purged.
 */
export interface PresenceStore {
  /**
   * Locks the session until the transaction ends, also one that is not stored yet: the events of one room are recorded
   * one after the other. Lock all sessions of a transaction in the order of their sids, and before the first event is
   * inserted: otherwise two transactions could wait for each other.
   */
  lockRoom(sid: string): Promise<RoomSession | undefined>;
  /** Several at a few statements' cost, in the order that they have to be locked in; those that are stored. */
  lockRooms(sids: readonly string[]): Promise<readonly RoomSession[]>;
  saveRoom(session: RoomSession): Promise<void>;
  /** Of different sids. */
  saveRooms(sessions: readonly RoomSession[]): Promise<void>;
  /** By sid. */
  listOpenRooms(): Promise<readonly RoomSession[]>;
  /** The last session of that name that was opened at `at` or before. */
  findRoomAt(name: string, at: number): Promise<RoomSession | undefined>;
  findParticipant(sid: string): Promise<ParticipantSession | undefined>;
  findParticipants(sids: readonly string[]): Promise<readonly ParticipantSession[]>;
  saveParticipant(session: ParticipantSession): Promise<void>;
  /** Of different sids. */
  saveParticipants(sessions: readonly ParticipantSession[]): Promise<void>;
  /** Participants (not machinery) who have joined and not left. */
  listPresent(roomSid: string): Promise<readonly ParticipantSession[]>;
  countPresent(roomSid: string): Promise<number>;
  /** By room; one with nobody in it is not among them. */
  countPresentOf(roomSids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Deletes room sessions that ended before `before`, with their participants; how many rooms. */
  purge(before: number, limit: number): Promise<number>;
}

export type RoomSession = {
  readonly sid: string;
  readonly name: string;
  readonly createdAt: number;
  /** When the first participant joined. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Of its last event. */
  readonly sequence: number;
};

export type ParticipantSession = {
  readonly sid: string;
  readonly roomSid: string;
  readonly identity: string;
  readonly name: string;
  /** Recorders and agents are machinery: known, but neither told of nor counted. */
  readonly role: 'participant' | 'machinery';
  /** Null for one whose leaving was told before its joining. */
  readonly joinedAt: number | null;
  readonly leftAt: number | null;
  /** Of the last event that had it. */
  readonly metadata: string | null;
  /** The role of the token with which the participant joined; null for tokens of others. */
  readonly accessRole: string | null;
};

/** The stores that a transaction which appends events works on: deliveries are stored with their event. */
export interface EventStores extends WebhookStores {
  readonly events: EventStore;
  readonly presence: PresenceStore;
}
