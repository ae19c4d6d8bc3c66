/*
 * Events: what happened in rooms, kept in the order in which it was stored.
 *
 *   position   counts all events of the store, without gaps that fill later: who has read up to a position has
 *              missed nothing before it, also with several instances. It is what cursors carry.
 *   sequence   counts the events of one room session (sid), from 1; null for an event without a room session.
 *   sourceId   the media server's own id of the event (`EV_…`), or another name that only this happening can have;
 *              unique, so that what comes twice is stored once.
 */
export interface EventStore {
  /** Undefined when the sourceId is known already: then nothing is stored. */
  insert(event: NewEvent): Promise<StoredEvent | undefined>;
  find(id: string): Promise<StoredEvent | undefined>;
  /** By position, after `afterPosition`. */
  list(query: EventQuery): Promise<readonly StoredEvent[]>;
  /** 0 when nothing is stored. */
  lastPosition(): Promise<number>;
  /** Deletes the oldest stored before `before` that no pending delivery needs; how many. */
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
  /** Locks the row until the transaction ends: the events of one room are recorded one after the other. */
  lockRoom(sid: string): Promise<RoomSession | undefined>;
  saveRoom(session: RoomSession): Promise<void>;
  listOpenRooms(): Promise<readonly RoomSession[]>;
  findParticipant(sid: string): Promise<ParticipantSession | undefined>;
  saveParticipant(session: ParticipantSession): Promise<void>;
  /** Participants (not machinery) who have joined and not left. */
  listPresent(roomSid: string): Promise<readonly ParticipantSession[]>;
  countPresent(roomSid: string): Promise<number>;
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
};
