import { ServiceError } from '../../../../src/contract/errors.ts';
import type { Participant } from '../../../../src/contract/participants.ts';
import type { Room } from '../../../../src/contract/rooms.ts';
import type { Egress, MediaServer } from '../../../../src/server/platform/livekit/media-server.ts';
import { isOver } from '../../../../src/server/recordings/lifecycle.ts';
import type { Schedule } from '../../../support/simulation/schedule.ts';

export const ROOM = 'demo';

/** LiveKit continues to search for a recorder after its caller has gone. */
const LONGEST_START_MS = 24_000;
/** A participant whose connection is lost leaves the room after this time. */
const LEAVES_AFTER_MS = 20_000;

type Recorder = { egress: Egress; isAlive: boolean; diedAt: number };
type LateStart = {
  readonly startId: string;
  readonly startsAt: number;
  readonly started: (egress: Egress) => void;
};

const away = (): ServiceError =>
  new ServiceError('media-server-unavailable', 'The connection was lost.', { retryable: true });

/** A media server whose recorders start late, die, or end by themselves. Requests and responses get lost. */
export class SimulatedRecorders {
  readonly recorders: Recorder[] = [];
  readonly #schedule: Schedule;
  #late: LateStart[] = [];
  /** If true, no more faults happen. This is the end of every simulation, in which everything must be repaired. */
  isPeaceful = false;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  createMediaServer(actor: string): MediaServer {
    const call = async <T>(run: () => T | Promise<T>): Promise<T> => {
      await this.#schedule.turn(actor);
      if (this.#happens(20)) throw away();
      const result = await settled(run).catch((error: unknown) => {
        this.#schedule.observe(actor, String(error));
        throw error;
      });
      this.#schedule.observe(actor, result);
      await this.#schedule.response(actor);
      if (this.#happens(20)) throw away();
      return result;
    };
    const mediaServer: Partial<MediaServer> = {
      listRooms: () => call(() => [{ name: ROOM, sid: 'RM_1' } as Room]),
      startRoomComposite: ({ webhookUrl = '' }) =>
        call(() => this.#start(new URL(webhookUrl).searchParams.get('recording') ?? '')),
      stopEgress: (egressId) => call(() => this.#stop(egressId)),
      listEgress: (filter) =>
        call(() =>
          this.recorders
            .map(({ egress }) => egress)
            .filter((egress) =>
              'egressId' in filter
                ? egress.egressId === filter.egressId
                : filter.active !== true || !isOver(egress),
            ),
        ),
      getParticipant: (_room, identity) =>
        call(() => {
          if (this.#isInRoom(identity)) return { identity } as Participant;
          throw new ServiceError('participant-not-found', 'There is no such participant.');
        }),
    };
    return mediaServer as MediaServer;
  }

  /** Starts that wait for a recorder, and when each gets one. */
  get lateStarts(): readonly (readonly [startId: string, startsAt: number])[] {
    return this.#late.map(({ startId, startsAt }) => [startId, startsAt]);
  }

  /** Whether the media server may do something by itself now. A recorder that records goes on as it is, unless it fails. */
  canProceed({ mayFail }: { readonly mayFail: boolean }): boolean {
    const now = this.#schedule.clock.now();
    return (
      this.#late.some(({ startsAt }) => startsAt <= now) ||
      this.recorders.some(
        ({ egress, isAlive }) => isAlive && !isOver(egress) && (mayFail || egress.status !== 'EGRESS_ACTIVE'),
      )
    );
  }

  /** Performs one step that the media server does by itself. */
  proceed(): void {
    const now = this.#schedule.clock.now();
    for (const { startId, started } of this.#late.filter(({ startsAt }) => startsAt <= now)) {
      started(this.#create(startId));
    }
    this.#late = this.#late.filter(({ startsAt }) => startsAt > now);
    const alive = this.recorders.filter(({ egress, isAlive }) => isAlive && !isOver(egress));
    const recorder = alive[this.#schedule.integer(Math.max(1, alive.length))];
    if (recorder === undefined) return;
    if (this.#happens(12)) {
      Object.assign(recorder, { isAlive: false, diedAt: now });
      return;
    }
    const { egress } = recorder;
    if (egress.status === 'EGRESS_STARTING') {
      recorder.egress = { ...egress, status: 'EGRESS_ACTIVE', mediaStartedAt: now };
    } else if (egress.status === 'EGRESS_ENDING') {
      const file = { filename: '', location: '', sizeBytes: 1000, durationMs: 1000 };
      recorder.egress = { ...egress, status: 'EGRESS_COMPLETE', endedAt: now, file };
    } else if (this.#happens(12)) {
      recorder.egress = { ...egress, status: 'EGRESS_FAILED', endedAt: now, error: 'no disk' };
    }
  }

  async #start(startId: string): Promise<Egress> {
    if (this.#happens(8))
      throw new ServiceError('media-worker-unavailable', 'No recorder.', { retryable: true });
    if (!this.#happens(4)) return this.#create(startId);
    const startsAt = this.#schedule.clock.now() + this.#schedule.integer(LONGEST_START_MS);
    return await new Promise((started) => this.#late.push({ startId, startsAt, started }));
  }

  #create(startId: string): Egress {
    const egress: Egress = {
      egressId: `EG_${this.recorders.length + 1}`,
      room: ROOM,
      status: 'EGRESS_STARTING',
      startedAt: this.#schedule.clock.now(),
      endedAt: undefined,
      mediaStartedAt: undefined,
      error: undefined,
      startId,
      streams: [],
      file: undefined,
    };
    this.recorders.push({ egress, isAlive: true, diedAt: 0 });
    return egress;
  }

  #stop(egressId: string): Egress {
    const recorder = this.#find(egressId);
    if (recorder === undefined) throw new ServiceError('recording-not-found', 'It is not known.');
    if (isOver(recorder.egress)) throw new ServiceError('conflict', 'It is over.');
    if (!recorder.isAlive) {
      throw new ServiceError('media-worker-unavailable', 'Its recorder is gone.', { retryable: true });
    }
    recorder.egress = { ...recorder.egress, status: 'EGRESS_ENDING' };
    return recorder.egress;
  }

  #isInRoom(egressId: string): boolean {
    const recorder = this.#find(egressId);
    if (recorder === undefined || isOver(recorder.egress)) return false;
    return recorder.isAlive || this.#schedule.clock.now() - recorder.diedAt < LEAVES_AFTER_MS;
  }

  #find(egressId: string): Recorder | undefined {
    return this.recorders.find(({ egress }) => egress.egressId === egressId);
  }

  #happens(oneIn: number): boolean {
    return !this.isPeaceful && this.#schedule.oneIn(oneIn);
  }
}

/** Runs it; an error that it throws at once is a rejection too. */
async function settled<T>(run: () => T | Promise<T>): Promise<T> {
  return await run();
}
