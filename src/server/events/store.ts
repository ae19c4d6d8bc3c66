import type { RoomPrefixes } from '../../contract/keys.ts';
import type { UsageStores } from '../usage/store.ts';
import type { NewDelivery, Parcel, WebhookStores } from '../webhooks/store.ts';

/*
 * Events record what happened in rooms, in the order in which they were stored.
 *
 *   position   numbers all events of the store, in the order in which they became visible: a reader who has read up
 *              to a position has missed nothing before it, also with several instances. Cursors carry it. Numbers may
 *              be left out.
 *   sequence   counts the events of one room session (sid), from 1; null for an event without a room session.
 *   sourceId   the media server's own id of the event (`EV_…`), or another unique name, so that an event that is
 *              received twice is stored once.
 */
export type PurgeTimes = {
  /** Undefined before the first time. */
  readonly purgedAt: number | undefined;
  /** Undefined without any event. */
  readonly newestAt: number | undefined;
};

export interface EventStore {
  /**
   * Stores events with different sourceIds in order, with their deliveries, at the very end of the transaction: the
   * transaction itself cannot read them. Events whose sourceId was stored already are left out with their deliveries. The
   * result is complete once the transaction has resolved. The deliveries of the parcel get no rows yet.
   */
  insertAll(
    events: readonly NewEvent[],
    deliveries: readonly NewDelivery[],
    parcel?: Parcel,
  ): Promise<LeftOut>;
  /** Returns when expired data were deleted last, and when the newest event was stored (Unix milliseconds). */
  readPurgeTimes(): Promise<PurgeTimes>;
  /** Notes that expired data were deleted at this instant, or that an operator has confirmed it. */
  notePurge(at: number): Promise<void>;
  /** Lets events of these sourceIds be stored once more, because what they report was undone. The stored ones stay. */
  forgetSources(sourceIds: readonly string[]): Promise<void>;
  /** Returns the sourceIds that are stored already. */
  findKnown(sourceIds: readonly string[]): Promise<ReadonlySet<string>>;
  find(id: string): Promise<StoredEvent | undefined>;
  findAll(ids: readonly string[]): Promise<readonly StoredEvent[]>;
  /** Lists events after `afterPosition`, in the order of their positions. */
  list(query: EventQuery): Promise<readonly StoredEvent[]>;
  /** Returns the position of the last event that was ever stored, also when it was purged; 0 when there was none. */
  lastPosition(): Promise<number>;
  /** Deletes at most `limit` of the oldest events stored before `before` that no pending delivery needs; returns how many. */
  purge(before: number, limit: number): Promise<number>;
}

export type LeftOut = {
  /** Ids of the events that were stored already. */
  readonly known: ReadonlySet<string>;
  /** Ids of the deliveries that wait for an earlier one of their room, and therefore got no lease. */
  readonly waiting: ReadonlySet<string>;
};

export type NewEvent = {
  readonly id: string;
  readonly sourceId: string;
  /** The canonical event name, such as participant_joined. */
  readonly type: string;
  readonly room: string | null;
  readonly roomSid: string | null;
  readonly sequence: number | null;
  /** The delivery payload as JSON text, without `event`, and with the object's key in place of the file URL. */
  readonly payload: string;
  /** When it happened. Unix milliseconds, like all times here. */
  readonly occurredAt: number;
  /** When it was stored. */
  readonly createdAt: number;
  /** Trace of the request that caused the event (W3C Trace Context); null without tracing. */
  readonly traceparent: string | null;
};

export type StoredEvent = NewEvent & { readonly position: number };

export type EventQuery = {
  readonly afterPosition: number;
  /** Set for a list that begins with the newest event before this position. */
  readonly beforePosition?: number | undefined;
  readonly room?: string | undefined;
  /** Only events of rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
  readonly types?: readonly string[] | undefined;
  /** Created at this instant or later. */
  readonly since?: number | undefined;
  readonly limit: number;
};

/*
 * Presence: the participants of room sessions and the tracks that they publish, by the media server's sids, according to its
 * events. A row is kept after the end, so that a late event is recognised as late. Old ended rows are purged.
 */
export interface PresenceStore {
  /**
   * Locks the session until the transaction ends, even if it is not stored yet: the events of one room are recorded one
   * after the other. Lock all sessions of a transaction in the order of their sids, and before the first event is inserted:
   * otherwise two transactions could wait for each other.
   */
  lockRoom(sid: string): Promise<RoomSession | undefined>;
  /** Locks several sessions in the required order, and returns those that are stored. */
  lockRooms(sids: readonly string[]): Promise<readonly RoomSession[]>;
  /**
   * Locks several sessions without waiting. Sessions that another transaction has locked are left out and reported as busy.
   */
  lockFreeRooms(sids: readonly string[]): Promise<LockedRooms>;
  /**
   * Locks the sessions of the subjects, all of them or those that are free, and reads what events about the subjects
   * depend on. Call it first in a transaction: on PostgreSQL all of that is one round trip.
   */
  lockAndRead(subjects: EventSubjects, rooms: 'all' | 'free'): Promise<EventContext>;
  saveRoom(session: RoomSession): Promise<void>;
  /** Notes metadata that the service itself has set. A room without any stored event stays unknown. */
  saveMetadata(sid: string, metadata: string | null): Promise<void>;
  /** Each element has a sid of its own. */
  saveRooms(sessions: readonly RoomSession[]): Promise<void>;
  isAnyRoomOpen(): Promise<boolean>;
  /** Lists the open sessions, in the order of their sids. */
  listOpenRooms(): Promise<readonly ListedRoom[]>;
  /** Lists the names of sessions that were opened at `since` or later, the newest first. */
  listOpened(since: number, limit: number): Promise<readonly string[]>;
  /** Finds the last session of that name that was opened at `at` or before. */
  findRoomAt(name: string, at: number): Promise<RoomSession | undefined>;
  findParticipant(sid: string): Promise<ParticipantSession | undefined>;
  findParticipants(sids: readonly string[]): Promise<readonly ParticipantSession[]>;
  saveParticipant(session: ParticipantSession): Promise<void>;
  /** Each element has a sid of its own. */
  saveParticipants(sessions: readonly ParticipantSession[]): Promise<void>;
  /** Lists participants who have joined and not left, without recorders and agents. */
  listPresent(roomSid: string): Promise<readonly ParticipantSession[]>;
  countPresent(roomSid: string): Promise<number>;
  /** Counts the participants present in each room. An empty room is not in the map. */
  countPresentIn(roomSids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Lists the participants present in several rooms, in the order in which they joined. */
  listPresentIn(roomSids: readonly string[]): Promise<readonly ParticipantSession[]>;
  /** Returns when somebody left each room last. A room that nobody has left is not in the map. */
  readLastLeavings(roomSids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  findTracks(sids: readonly string[]): Promise<readonly PublishedTrack[]>;
  /** Lists the tracks of these rooms that are still published. */
  listPublishedTracks(roomSids: readonly string[]): Promise<readonly PublishedTrack[]>;
  /** Each element has a sid of its own. */
  saveTracks(tracks: readonly PublishedTrack[]): Promise<void>;
  /** Saves the changes as the last statements of the transaction, which therefore cannot read them. */
  saveAtCommit(changed: ChangedPresence): Promise<void>;
  /** Deletes at most `limit` tracks that were published before `before` in sessions that have ended; returns how many. */
  purgeTracks(before: number, limit: number): Promise<number>;
  /** Deletes room sessions that ended before `before`, with participants and tracks; returns the number of rooms. */
  purge(before: number, limit: number): Promise<number>;
}

/** Metadata is left out: thousands of rooms may be open. */
export type ListedRoom = Omit<RoomSession, 'metadata'>;

export type LockedRooms = {
  readonly sessions: readonly RoomSession[];
  /** Sids of the sessions that another transaction has locked. */
  readonly busy: ReadonlySet<string>;
};

/** Subjects of the events of one transaction: sids, and sourceIds of events that are likely to be stored. */
export type EventSubjects = {
  readonly rooms: readonly string[];
  readonly participants: readonly string[];
  readonly tracks: readonly string[];
  readonly sourceIds: readonly string[];
  readonly starters: readonly Starter[];
};

/** Somebody who joins or publishes, and the minute in which that happens. */
export type Starter = {
  readonly kind: keyof Starts;
  readonly roomSid: string;
  readonly identity: string;
  readonly participantSid: string;
  /** Its beginning. */
  readonly minute: number;
};

export type Starts = { readonly joins: number; readonly tracks: number };

export type EventContext = LockedRooms & {
  readonly participants: readonly ParticipantSession[];
  readonly tracks: readonly PublishedTrack[];
  /** Participants present in each room. An empty room is not in the map. */
  readonly presentCounts: ReadonlyMap<string, number>;
  /** The number of joins or tracks of each starter in its minute, counted no further than to the maximum; in their order. */
  readonly starts: readonly number[];
  /** When the events that are stored already happened, by their sourceIds. */
  readonly knownInstants: ReadonlyMap<string, number>;
  /** Version of the registrations of webhooks. */
  readonly registrationsVersion: number;
  /** Whether an event has deliveries that are not stored yet. */
  readonly isFanOutOpen: boolean;
};

/** Each element of a list has a sid of its own. */
export type ChangedPresence = {
  readonly rooms: readonly RoomSession[];
  readonly participants: readonly ParticipantSession[];
  readonly tracks: readonly PublishedTrack[];
};

export type RoomSession = {
  readonly sid: string;
  readonly name: string;
  readonly createdAt: number;
  /** When the first participant joined. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** The sequence number of the room's last event. */
  readonly sequence: number;
  /** The room's metadata as far as it is known: see event-payload.ts. When a session is saved, null keeps what is stored. */
  readonly metadata: string | null;
};

export type ParticipantSession = {
  readonly sid: string;
  readonly roomSid: string;
  readonly identity: string;
  readonly name: string;
  /**
   * Recorders and agents count as `machinery`, and people who joined although they were blocked count as `blocked`: both are
   * stored, but not reported by events and not counted. A comparison that finds a blocked person still in the room, because
   * the removal failed, makes it a participant.
   */
  readonly countsAs: 'participant' | 'machinery' | 'blocked';
  /** Null when participant_left was received without participant_joined before it. */
  readonly joinedAt: number | null;
  readonly leftAt: number | null;
  /** Metadata of the last event that included it; null after the participant has left. */
  readonly metadata: string | null;
  /** Role of the token with which the participant joined; null for tokens that another program issued. */
  readonly accessRole: string | null;
  /**
   * The end of the minute for whose maximum of joins this one came too late: no event has told it. Null for all others.
   */
  readonly untoldUntil: number | null;
  /** The API key whose token the participant had; absent for the root key and for tokens that another program issued. */
  readonly keyId?: string | null | undefined;
};

/** A published track. LiveKit gives each publication a sid of its own. */
export type PublishedTrack = {
  readonly sid: string;
  readonly participantSid: string;
  readonly roomSid: string;
  /** LiveKit's TrackInfo in protobuf JSON, for a track_unpublished that LiveKit did not send. */
  readonly track: string;
  readonly publishedAt: number;
  readonly unpublishedAt: number | null;
  /** As with participants. */
  readonly untoldUntil: number | null;
};

/** Events whose deliveries are not all stored yet: see fan-out.ts. */
export interface FanOutStore {
  isAnyOpen(): Promise<boolean>;
  /**
   * Returns at most `limit` fan-outs, in the order of the positions of their events, and locks all fan-outs until the
   * transaction ends.
   */
  lockNext(limit: number): Promise<readonly FanOut[]>;
  insert(fanOuts: readonly FanOut[]): Promise<void>;
  /** Stores the position to continue from. */
  advance(fanOut: FanOut): Promise<void>;
  delete(eventIds: readonly string[]): Promise<void>;
}

export type FanOut = {
  readonly eventId: string;
  /** When the event was stored. */
  readonly createdAt: number;
  /** Creation time of the last webhook, in the order of registrations, that has its delivery; null when none has. */
  readonly afterCreatedAt: number | null;
  readonly afterId: string | null;
};

/** The stores that a transaction which appends events uses. Deliveries and usage are stored with their event. */
export interface EventStores extends WebhookStores, UsageStores {
  readonly events: EventStore;
  readonly fanOuts: FanOutStore;
  readonly presence: PresenceStore;
}
