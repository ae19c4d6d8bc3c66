import type { LeftOut, NewEvent } from '../../../../src/server/events/store.ts';
import { hasClaimRunOut } from '../../../../src/server/recordings/lifecycle.ts';
import { endSourceId, type ToldChange } from '../../../../src/server/recordings/recording-events.ts';
import type {
  NewRecording,
  Recording,
  RecordingClaim,
  RecordingStore,
} from '../../../../src/server/recordings/store.ts';
import type { Schedule } from '../../../support/simulation/schedule.ts';

/** The rows and the published ends of all instances. Each statement is atomic, as in the real databases. */
export class SimulatedDatabase {
  readonly rows = new Map<string, Recording>();
  /** Ids of the published ends. Each is published once, as the real events are stored once. */
  readonly publishedEnds = new Set<string>();
  readonly #schedule: Schedule;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  /** Returns the store as one instance sees it. A statement takes two turns, so that its response can get lost. */
  createStore(actor: string): RecordingStore {
    const statement = <T>(run: () => T): Promise<T> => this.statement(actor, run);
    return {
      claim: (recording, now) => statement(() => this.#claim(recording, now)),
      update: (recording, change) => statement(() => this.update(recording, change)),
      release: (recording) =>
        statement(() => {
          const isSame = this.#isSame(recording);
          if (isSame) this.rows.delete(recording.id);
          return isSame;
        }),
      find: (id) => statement(() => this.rows.get(id)),
      findActive: (room) => statement(() => this.#activeOf(room)),
      findNewest: () => Promise.reject(new Error('not simulated')),
      findByEgressId: (egressId) => statement(() => this.toRow(egressId)),
      list: ({ status, after, limit }) =>
        statement(() =>
          [...this.rows.values()]
            .filter((row) => status === undefined || row.status === status)
            .toSorted((a, b) => b.createdAt - a.createdAt || b.id.localeCompare(a.id))
            .filter(
              ({ createdAt, id }) =>
                after === undefined ||
                createdAt < after.createdAt ||
                (createdAt === after.createdAt && id < after.id),
            )
            .slice(0, limit),
        ),
      listActive: () => Promise.reject(new Error('not simulated')),
      listEnded: () => Promise.reject(new Error('not simulated')),
      listOfSession: () => Promise.reject(new Error('not simulated')),
      listBroadcasting: () => Promise.reject(new Error('not simulated')),
      isAnyActiveSince: () => Promise.reject(new Error('not simulated')),
      delete: () => Promise.reject(new Error('not simulated')),
    };
  }

  /** Stores an end together with its event. */
  storeTold(actor: string, { recording, change, event }: ToldChange): Promise<Recording | undefined> {
    return this.statement(actor, () => {
      const ended = this.update(recording, change);
      if (ended !== undefined && event !== undefined) {
        this.publishedEnds.add(`${endSourceId(ended)}${event.isCorrection === true ? ':corrected' : ''}`);
      }
      return ended;
    });
  }

  /** Runs a statement of an instance. It takes two turns, so that its response can be lost. */
  async statement<T>(actor: string, run: () => T): Promise<T> {
    await this.#schedule.turn(actor);
    const result = run();
    this.#schedule.observe(actor, result);
    await this.#schedule.response(actor);
    return result;
  }

  findPublished(sourceIds: readonly string[]): ReadonlySet<string> {
    return new Set(sourceIds.filter((id) => this.publishedEnds.has(id)));
  }

  /** Stores the events that are not stored yet; returns the others. */
  publish(events: readonly NewEvent[]): LeftOut {
    const known = events.filter(({ sourceId }) => this.publishedEnds.has(sourceId));
    for (const { sourceId } of events) this.publishedEnds.add(sourceId);
    return { known: new Set(known.map(({ id }) => id)), waiting: new Set() };
  }

  toRow(egressId: string): Recording | undefined {
    return [...this.rows.values()].find((row) => row.egressId === egressId);
  }

  update(recording: Recording, change: Partial<Recording>): Recording | undefined {
    if (!this.#isSame(recording)) return undefined;
    const updated = { ...recording, ...change };
    this.rows.set(recording.id, updated);
    return updated;
  }

  #claim(wanted: NewRecording, now: number): RecordingClaim {
    const { owner, kind = 'recording', roomSid = null, recordTracks = 0, outputs = null, ...claim } = wanted;
    const active = this.#activeOf(claim.room);
    const mayTakeOver = active?.id === claim.id && hasClaimRunOut(active, now);
    if (active !== undefined && !mayTakeOver) return { claimed: false, recording: active };
    const recording: Recording = {
      ...(active ?? EMPTY),
      ...claim,
      ...{ kind, roomSid, recordTracks, outputs },
      claimOwner: owner,
      createdAt: now,
    };
    this.rows.set(recording.id, recording);
    return { claimed: true, recording };
  }

  #activeOf(room: string): Recording | undefined {
    return [...this.rows.values()].find(
      (row) => row.room === room && (row.status === 'starting' || row.status === 'recording'),
    );
  }

  #isSame(recording: Recording): boolean {
    const stored = this.rows.get(recording.id);
    return stored !== undefined && JSON.stringify(stored) === JSON.stringify({ ...stored, ...recording });
  }
}

const EMPTY = {
  egressId: null,
  status: 'starting',
  startedAt: null,
  mediaStartedAt: null,
  stoppedAt: null,
  endedAt: null,
  sizeBytes: null,
  durationMs: null,
  error: null,
  recordTracks: 0,
} as const;
