import type { ParticipantSession, PresenceStore, PublishedTrack } from './store.ts';

/** The sids that a transaction is about. */
export type PresenceSubjects = {
  readonly rooms: readonly string[];
  readonly participants: readonly string[];
  readonly tracks: readonly string[];
};

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
  readonly #changed = new Set<string>();
  readonly #changedTracks = new Set<string>();
  /** Rooms whose present participants have all been read. */
  readonly #wholeRooms = new Set<string>();

  private constructor(store: PresenceStore) {
    this.#store = store;
  }

  static async read(store: PresenceStore, subjects: PresenceSubjects): Promise<PresenceBatch> {
    const batch = new PresenceBatch(store);
    await batch.#readParticipants(unique(subjects.participants));
    await batch.#readTracks(unique(subjects.tracks));
    const rooms = unique(subjects.rooms);
    for (const [sid, count] of rooms.length === 0 ? [] : await store.countPresentOf(rooms)) {
      batch.#counts.set(sid, count);
    }
    return batch;
  }

  /** Reads the same, and everyone who is present in these rooms with all tracks that they publish. */
  static async readWhole(store: PresenceStore, subjects: PresenceSubjects): Promise<PresenceBatch> {
    const batch = await PresenceBatch.read(store, subjects);
    const rooms = unique(subjects.rooms);
    if (rooms.length === 0) return batch;
    for (const one of await store.listPresentOf(rooms)) batch.#keepParticipant(one);
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

  countPresent(roomSid: string): number {
    return this.#counts.get(roomSid) ?? 0;
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

  async save(): Promise<void> {
    await this.#store.saveParticipants(
      [...this.#changed].flatMap((sid) => this.#participants.get(sid) ?? []),
    );
    await this.#store.saveTracks([...this.#changedTracks].flatMap((sid) => this.#tracks.get(sid) ?? []));
  }

  async #readParticipants(sids: readonly string[]): Promise<void> {
    for (const sid of sids) this.#participants.set(sid, undefined);
    for (const known of sids.length === 0 ? [] : await this.#store.findParticipants(sids)) {
      this.#keepParticipant(known);
    }
  }

  async #readTracks(sids: readonly string[]): Promise<void> {
    for (const known of sids.length === 0 ? [] : await this.#store.findTracks(sids)) this.#keepTrack(known);
  }

  #keepParticipant(participant: ParticipantSession): void {
    const { sid, roomSid } = participant;
    this.#participants.set(sid, participant);
    const ofRoom = this.#participantsOf.get(roomSid) ?? new Set();
    this.#participantsOf.set(roomSid, ofRoom.add(sid));
  }

  #keepTrack(track: PublishedTrack): void {
    this.#tracks.set(track.sid, track);
    const ofParticipant = this.#tracksOf.get(track.participantSid) ?? new Set();
    this.#tracksOf.set(track.participantSid, ofParticipant.add(track.sid));
  }
}

function isPresent(participant: ParticipantSession | undefined): boolean {
  return participant?.role === 'participant' && participant.joinedAt !== null && participant.leftAt === null;
}

function unique(sids: readonly string[]): readonly string[] {
  return [...new Set(sids)].filter((sid) => sid !== '');
}
