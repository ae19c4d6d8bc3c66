import type { MediaEvent } from '../platform/livekit/media-event.ts';
import type { ParticipantSession, PresenceStore } from './store.ts';

/**
 * Who is where, for the events of one transaction: read at once before the first of them and saved at once after the
 * last, as on PostgreSQL every statement is a round trip. The rooms are locked, so that nobody else changes them.
 */
export class PresenceBatch {
  readonly #store: PresenceStore;
  readonly #participants = new Map<string, ParticipantSession | undefined>();
  readonly #counts = new Map<string, number>();
  readonly #changed = new Set<string>();

  private constructor(store: PresenceStore) {
    this.#store = store;
  }

  static async read(store: PresenceStore, events: readonly MediaEvent[]): Promise<PresenceBatch> {
    const batch = new PresenceBatch(store);
    const sids = unique(events.map(({ participant }) => participant?.sid));
    for (const sid of sids) batch.#participants.set(sid, undefined);
    for (const known of sids.length === 0 ? [] : await store.findParticipants(sids)) {
      batch.#participants.set(known.sid, known);
    }
    const rooms = unique(events.map(({ room }) => room?.sid));
    for (const [sid, count] of rooms.length === 0 ? [] : await store.countPresentOf(rooms)) {
      batch.#counts.set(sid, count);
    }
    return batch;
  }

  async findParticipant(sid: string): Promise<ParticipantSession | undefined> {
    if (!this.#participants.has(sid)) this.#participants.set(sid, await this.#store.findParticipant(sid));
    return this.#participants.get(sid);
  }

  async saveParticipant(participant: ParticipantSession): Promise<void> {
    const { sid, roomSid } = participant;
    const before = isPresent(await this.findParticipant(sid)) ? 1 : 0;
    const now = isPresent(participant) ? 1 : 0;
    this.#counts.set(roomSid, this.countPresent(roomSid) + now - before);
    this.#participants.set(sid, participant);
    this.#changed.add(sid);
  }

  /** In the order in which they joined. */
  async listPresent(roomSid: string): Promise<readonly ParticipantSession[]> {
    if (this.countPresent(roomSid) === 0) return [];
    for (const stored of await this.#store.listPresent(roomSid)) {
      if (this.#participants.get(stored.sid) === undefined) this.#participants.set(stored.sid, stored);
    }
    const ofRoom = [...this.#participants.values()].filter(
      (one) => one !== undefined && one.roomSid === roomSid && isPresent(one),
    ) as readonly ParticipantSession[];
    return ofRoom.toSorted(
      (one, other) => (one.joinedAt ?? 0) - (other.joinedAt ?? 0) || (one.sid < other.sid ? -1 : 1),
    );
  }

  countPresent(roomSid: string): number {
    return this.#counts.get(roomSid) ?? 0;
  }

  async save(): Promise<void> {
    const changed = [...this.#changed].flatMap((sid) => this.#participants.get(sid) ?? []);
    await this.#store.saveParticipants(changed);
  }
}

function isPresent(participant: ParticipantSession | undefined): boolean {
  return participant?.role === 'participant' && participant.joinedAt !== null && participant.leftAt === null;
}

function unique(sids: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(sids.filter((sid) => sid !== undefined && sid !== ''))] as readonly string[];
}
