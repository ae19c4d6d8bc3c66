import { MINUTE_MS, MOST_STARTS, toMinute } from './event-times.ts';
import type {
  ChangedPresence,
  EventContext,
  EventSubjects,
  ParticipantSession,
  PresenceStore,
  PublishedTrack,
  Starter,
  Starts,
} from './store.ts';

/** The sids that a transaction is about. */
export type PresenceSubjects = Omit<EventSubjects, 'sourceIds' | 'starters'>;

/**
 * Presence for the events of one transaction, read before the first event and saved after the last, because on PostgreSQL
 * every statement is a round trip. The rooms are locked, so that no other transaction changes it in the meantime.
 */
export class PresenceBatch {
  readonly #store: PresenceStore;
  readonly #participants = new Map<string, ParticipantSession | undefined>();
  readonly #tracks = new Map<string, PublishedTrack>();
  /** Sids of the tracks of each participant. */
  readonly #tracksOf = new Map<string, Set<string>>();
  /** Sids of the participants of each room. */
  readonly #participantsOf = new Map<string, Set<string>>();
  readonly #counts = new Map<string, number>();
  /** When somebody left each room last, as it was stored. */
  readonly #lastLeavings = new Map<string, number>();
  readonly #starts = new Map<string, Starts>();
  readonly #changed = new Set<string>();
  readonly #changedTracks = new Set<string>();
  /** Rooms whose present participants have all been read. */
  readonly #wholeRooms = new Set<string>();

  private constructor(store: PresenceStore) {
    this.#store = store;
  }

  /** `context` was read for these participants and starters. */
  static of(
    store: PresenceStore,
    { participants, tracks, presentCounts, starts }: EventContext,
    read: Pick<EventSubjects, 'participants' | 'starters'>,
  ): PresenceBatch {
    const batch = new PresenceBatch(store);
    for (const sid of read.participants) batch.#participants.set(sid, undefined);
    for (const participant of participants) batch.#keepParticipant(participant);
    for (const track of tracks) batch.#keepTrack(track);
    for (const [sid, count] of presentCounts) batch.#counts.set(sid, count);
    for (const [number, starter] of read.starters.entries()) batch.#keepStarts(starter, starts[number]);
    return batch;
  }

  /** Reads everyone who is present in these rooms with all tracks that they publish, and the other subjects. */
  static async readWhole(store: PresenceStore, subjects: PresenceSubjects): Promise<PresenceBatch> {
    const batch = new PresenceBatch(store);
    await batch.#read(subjects);
    const rooms = unique(subjects.rooms);
    if (rooms.length === 0) return batch;
    for (const one of await store.listPresentIn(rooms)) batch.#keepParticipant(one);
    for (const one of await store.listPublishedTracks(rooms)) batch.#keepTrack(one);
    for (const sid of rooms) batch.#wholeRooms.add(sid);
    return batch;
  }

  async findParticipant(sid: string): Promise<ParticipantSession | undefined> {
    if (!this.#participants.has(sid)) {
      const found = await this.#store.findParticipant(sid);
      if (found === undefined) this.#participants.set(sid, found);
      else this.#keepParticipant(found);
    }
    return this.#participants.get(sid);
  }

  async saveParticipant(participant: ParticipantSession): Promise<void> {
    const { sid, roomSid } = participant;
    const before = isPresent(await this.findParticipant(sid)) ? 1 : 0;
    const now = isPresent(participant) ? 1 : 0;
    this.#counts.set(roomSid, this.countPresent(roomSid) + now - before);
    this.#keepParticipant(participant);
    this.#changed.add(sid);
  }

  /** Lists the participants who are present, in the order in which they joined. */
  async listPresent(roomSid: string): Promise<readonly ParticipantSession[]> {
    if (this.countPresent(roomSid) === 0) return [];
    if (!this.#wholeRooms.has(roomSid)) {
      for (const stored of await this.#store.listPresent(roomSid)) {
        if (this.#participants.get(stored.sid) === undefined) this.#keepParticipant(stored);
      }
    }
    return [...(this.#participantsOf.get(roomSid) ?? [])]
      .flatMap((sid) => this.#participants.get(sid) ?? [])
      .filter((one) => one.roomSid === roomSid && isPresent(one))
      .toSorted(
        (one, other) => (one.joinedAt ?? 0) - (other.joinedAt ?? 0) || (one.sid < other.sid ? -1 : 1),
      );
  }

  /** Reads when somebody left each of these rooms last, so that `findLastLeaving` reads nothing. */
  async preloadLastLeavings(roomSids: readonly string[]): Promise<void> {
    const found = await this.#store.readLastLeavings(roomSids);
    for (const sid of roomSids) this.#lastLeavings.set(sid, found.get(sid) ?? Number.NEGATIVE_INFINITY);
  }

  /** Returns when somebody left the room last; -Infinity when nobody has. */
  async findLastLeaving(roomSid: string): Promise<number> {
    if (!this.#lastLeavings.has(roomSid)) await this.preloadLastLeavings([roomSid]);
    const changed = [...this.#changed].flatMap((sid) => this.#participants.get(sid) ?? []);
    return changed
      .filter((one) => one.roomSid === roomSid)
      .reduce(
        (last, { leftAt }) => Math.max(last, leftAt ?? last),
        this.#lastLeavings.get(roomSid) ?? Number.NEGATIVE_INFINITY,
      );
  }

  countPresent(roomSid: string): number {
    return this.#counts.get(roomSid) ?? 0;
  }

  /**
   * Counts one more join or track of the identity in the minute of `at`. It is left out of the events (`untoldUntil`) when
   * there were too many in this minute; the last one that is told has `limitedUntil`.
   */
  limitStart(kind: keyof Starts, { roomSid, identity }: ParticipantKey, at: number): StartLimit {
    const minute = toMinute(at);
    const key = toKey({ roomSid, identity, minute });
    const before = this.#starts.get(key) ?? NO_STARTS;
    const count = before[kind] + 1;
    this.#starts.set(key, { ...before, [kind]: count });
    const until = minute + MINUTE_MS;
    if (count > MOST_STARTS) return { untoldUntil: until };
    return count === MOST_STARTS ? { limitedUntil: until } : {};
  }

  /** Returns a track that was read with the batch or published during it. */
  findTrack(sid: string): PublishedTrack | undefined {
    return this.#tracks.get(sid);
  }

  saveTrack(track: PublishedTrack): void {
    this.#keepTrack(track);
    this.#changedTracks.add(track.sid);
  }

  /** Lists the tracks that a participant publishes now; the room must have been loaded whole. */
  listPublished(participantSid: string): readonly PublishedTrack[] {
    return [...(this.#tracksOf.get(participantSid) ?? [])]
      .flatMap((sid) => this.#tracks.get(sid) ?? [])
      .filter(({ unpublishedAt }) => unpublishedAt === null);
  }

  /** Returns the rows to save. */
  changes(): Omit<ChangedPresence, 'rooms'> {
    return {
      participants: [...this.#changed].flatMap((sid) => this.#participants.get(sid) ?? []),
      tracks: [...this.#changedTracks].flatMap((sid) => this.#tracks.get(sid) ?? []),
    };
  }

  async #read(subjects: PresenceSubjects): Promise<void> {
    const participants = unique(subjects.participants);
    const tracks = unique(subjects.tracks);
    const rooms = unique(subjects.rooms);
    for (const sid of participants) this.#participants.set(sid, undefined);
    const known = participants.length === 0 ? [] : await this.#store.findParticipants(participants);
    for (const participant of known) this.#keepParticipant(participant);
    for (const track of tracks.length === 0 ? [] : await this.#store.findTracks(tracks)) {
      this.#keepTrack(track);
    }
    const counts = rooms.length === 0 ? [] : await this.#store.countPresentIn(rooms);
    for (const [sid, count] of counts) this.#counts.set(sid, count);
  }

  #keepParticipant(participant: ParticipantSession): void {
    const { sid, roomSid } = participant;
    this.#participants.set(sid, participant);
    const ofRoom = this.#participantsOf.get(roomSid) ?? new Set();
    this.#participantsOf.set(roomSid, ofRoom.add(sid));
  }

  #keepStarts(starter: Starter, count = 0): void {
    const { kind } = starter;
    const known = this.#starts.get(toKey(starter)) ?? NO_STARTS;
    // Two connections of one identity may see different tracks.
    this.#starts.set(toKey(starter), { ...known, [kind]: Math.max(count, known[kind]) });
  }

  #keepTrack(track: PublishedTrack): void {
    this.#tracks.set(track.sid, track);
    const ofParticipant = this.#tracksOf.get(track.participantSid) ?? new Set();
    this.#tracksOf.set(track.participantSid, ofParticipant.add(track.sid));
  }
}

type StartLimit = { readonly untoldUntil?: number; readonly limitedUntil?: number };

const NO_STARTS: Starts = { joins: 0, tracks: 0 };

type ParticipantKey = Pick<ParticipantSession, 'roomSid' | 'identity'>;

function toKey({ roomSid, identity, minute }: Omit<Starter, 'kind' | 'participantSid'>): string {
  return JSON.stringify([roomSid, identity, minute]);
}

function isPresent(participant: ParticipantSession | undefined): boolean {
  return (
    participant?.countsAs === 'participant' && participant.joinedAt !== null && participant.leftAt === null
  );
}

function unique(sids: readonly string[]): readonly string[] {
  return [...new Set(sids)].filter((sid) => sid !== '');
}
