import type { Batcher } from '../../platform/jobs/batcher.ts';
import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import type { AudioTrack } from '../../platform/livekit/room-audio.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import { SampleRingBuffer } from '../audio/sample-ring-buffer.ts';
import { SPEECH_MARGINS } from '../audio/voice-activity.ts';
import { SAMPLE_RATE, toMs, type VoiceActivityDetector, type VoicedSegment } from '../engines/speech.ts';
import { createLeasedWriter } from '../leased-writer.ts';
import { type StayDeps, visitRoom } from '../live/stay-in-room.ts';
import { VoicedStream } from '../live/voiced-stream.ts';
import type { SoundBox } from './sound-box.ts';
import type { DetectedTurn, ListenedRecording, TurnStores } from './store.ts';

/*
 * Listens to every room that is recorded, so that a transcription of the recording can name the speakers. Several workers
 * share the recordings by leases:
 *
 *   claim     Takes a running recording without a valid lease: one per round, so that the workers share them.
 *   renew     Extends all leases of the worker long before they expire.
 *   finish    Stores the last turns and releases the lease when the recording has ended.
 *   end       Leaves the room when the recording is gone or another worker has taken over.
 *   release   On close: stores the turns so far, then releases the lease, so that another worker continues.
 */

/** Changes and claims that follow each other closely are handled together. */
const ROUND_PAUSE_MS = 400;

/** Reads the database at least this often, because a change of another process may be missed. */
const POLL_INTERVAL_MS = 30_000;

/** Duration of a lease. Another worker takes over when the lease of a killed worker has expired. */
const LEASE_MS = 4_000;

const RENEW_MS = 1_000;

/** Time after a stop in which the recorder still records for a moment and writes the file. */
const ENDING_MS = 10_000;

const BACKOFF = { firstMs: ROUND_PAUSE_MS, maxMs: 2_000 } as const;

/** Maximum number of rooms. */
const MAX_ROOMS = 50;

type TurnListenerDeps = Omit<ListenDeps, 'store'> & {
  readonly store: Pick<TurnStores, 'turns'>;
  readonly changes: ChangeFeed;
  /** Lease owner. */
  readonly workerId: string;
  /** Called when the worker has left a room. */
  readonly onRoomLeft: () => void;
};

export type TurnListener = {
  /** Stores the turns so far and releases the leases. */
  readonly close: () => Promise<void>;
};

export function startTurnListener(deps: TurnListenerDeps): TurnListener {
  const worker = new TurnWorker(deps);
  return { close: () => worker.close() };
}

type HeldRecording = {
  readonly listening: Listening;
  readonly lease: { renewedAt: number; isRefused: boolean };
};

class TurnWorker {
  readonly #deps: TurnListenerDeps;
  readonly #held = new Map<string, HeldRecording>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #loop: Loop;
  readonly #unsubscribe: () => void;
  /** Monotonic milliseconds. The leases of the rows have wall-clock times. */
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: TurnListenerDeps) {
    this.#deps = deps;
    const { clock, log, changes } = deps;
    this.#unsubscribe = changes.subscribe('recordings', () => this.#wakeSoon());
    this.#loop = startLoop({
      clock,
      log,
      failureMessage: 'reading the recordings failed; trying again',
      backoff: BACKOFF,
      round: () => this.#round(),
    });
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#loop.close();
    for (const [id, held] of this.#held) this.#finish(id, held);
    await Promise.all(this.#leaving);
  }

  #wakeSoon(): void {
    this.#loop.wakeWithin(ROUND_PAUSE_MS);
  }

  /** Returns the milliseconds until the next lease is due or until the next read. */
  async #round(): Promise<number> {
    const { store, clock } = this.#deps;
    await this.#renew();
    const recordings = await store.turns.listListened(clock.now() - ENDING_MS);
    this.#leave(recordings);
    const others = recordings.filter(({ recordingId }) => !this.#held.has(recordingId));
    const now = clock.now();
    const claimable = others.filter(({ leaseUntil }) => leaseUntil === null || leaseUntil <= now);
    if (this.#held.size < MAX_ROOMS) await this.#claim(claimable);
    return Math.min(
      POLL_INTERVAL_MS,
      ...(this.#held.size === 0 ? [] : [this.#renewedAt + RENEW_MS - clock.monotonic()]),
      ...(claimable.length === 0 ? [] : [ROUND_PAUSE_MS]),
      ...others.flatMap(({ leaseUntil }) => (leaseUntil === null ? [] : Math.max(leaseUntil - now, 1))),
    );
  }

  async #renew(): Promise<void> {
    const { store, clock, workerId } = this.#deps;
    const at = clock.monotonic();
    if (this.#held.size === 0 || at - this.#renewedAt < RENEW_MS) return;
    await store.turns.renewListening(workerId, clock.now() + LEASE_MS);
    this.#renewedAt = at;
    for (const { lease } of this.#held.values()) lease.renewedAt = at;
  }

  /** Leaves the rooms whose recording has ended or that another worker has taken over. */
  #leave(recordings: readonly ListenedRecording[]): void {
    const { workerId } = this.#deps;
    const owners = new Map(recordings.map(({ recordingId, owner }) => [recordingId, owner]));
    for (const [id, held] of this.#held) {
      const owner = owners.get(id);
      if (owner === undefined) this.#finish(id, held);
      else if (owner !== workerId || held.lease.isRefused) this.#end(id, held);
    }
  }

  async #claim([first]: readonly ListenedRecording[]): Promise<void> {
    if (first === undefined) return;
    const { store, clock, workerId: owner } = this.#deps;
    const [now, at] = [clock.now(), clock.monotonic()];
    const { recordingId } = first;
    const claim = { recordingId, owner, now, leaseUntil: now + LEASE_MS };
    if (await store.turns.claimListening(claim)) this.#start(first, at);
  }

  #start(recording: ListenedRecording, at: number): void {
    const { clock, log, workerId: owner } = this.#deps;
    const { recordingId } = recording;
    log.info({ recordingId }, 'listening to a room that is recorded');
    const lease = { renewedAt: at, isRefused: false };
    const listening = listenToRoom(this.#deps, {
      recording,
      owner,
      isHeld: () => clock.monotonic() - lease.renewedAt < LEASE_MS,
      onRefused: () => {
        lease.isRefused = true;
        this.#wakeSoon();
      },
    });
    this.#held.set(recordingId, { listening, lease });
  }

  #finish(id: string, { listening }: HeldRecording): void {
    const { store, workerId } = this.#deps;
    this.#endRoom(id, async () => {
      await listening.finish();
      await store.turns.releaseListening(id, workerId);
    });
  }

  #end(id: string, { listening }: HeldRecording): void {
    this.#endRoom(id, () => listening.end());
  }

  #endRoom(recordingId: string, leave: () => Promise<void>): void {
    const { log, onRoomLeft } = this.#deps;
    this.#held.delete(recordingId);
    const left = leave()
      .catch((error: unknown) =>
        log.warn({ recordingId, err: error }, 'leaving a recorded room failed; its lease will expire'),
      )
      .finally(() => {
        this.#leaving.delete(left);
        onRoomLeft();
      });
    this.#leaving.add(left);
  }
}

/*
 * Listens to one room that is recorded, as a hidden agent: a voice activity detector finds when each track has speech.
 * Nothing is recognised. Audio is kept, encrypted, only of turns in a recording with recordTracks.
 */

type ListenDeps = StayDeps & {
  readonly store: { readonly turns: Pick<TurnStores['turns'], 'addTurns'> };
  /** Creates the detector of one track, with TURN_MARGINS. */
  readonly createDetector: () => VoiceActivityDetector;
  readonly soundBox: Pick<SoundBox, 'seal'>;
};

type ListenSettings = {
  readonly recording: Pick<ListenedRecording, 'recordingId' | 'room' | 'recordTracks'>;
  readonly owner: string;
  /**
   * Returns whether our lease is still valid. Without it another worker may be in the room, and joining would disconnect it.
   */
  readonly isHeld: () => boolean;
  /** Called when the store refuses turns: the recording was deleted or taken over by another worker. */
  readonly onRefused: () => void;
};

/** Turns that end within this time are stored together. */
const STORE_AFTER_MS = 1_000;

type Listening = {
  /** Leaves the room at once and drops turns that are not stored yet. */
  readonly end: () => Promise<void>;
  /** Stores who spoke so far, then leaves the room. */
  readonly finish: () => Promise<void>;
};

function listenToRoom(deps: ListenDeps, settings: ListenSettings): Listening {
  const { recordingId, room } = settings.recording;
  const writer = createLeasedWriter<DetectedTurn>({
    clock: deps.clock,
    log: deps.log,
    fields: { recordingId },
    failure: 'storing turns failed; trying again',
    gather: { ms: STORE_AFTER_MS, size: Number.POSITIVE_INFINITY },
    store: (turns) => deps.store.turns.addTurns(recordingId, settings.owner, turns),
    onRefused: settings.onRefused,
  });
  const tracks = new TrackListeners(deps, writer, settings.recording);
  const options = {
    room,
    identity: `stt-turns-${recordingId}`,
    isHeld: settings.isHeld,
    fields: { recordingId },
    onTrack: (track: AudioTrack) => void tracks.listen(track),
  };
  const leave = visitRoom(deps, options, () => tracks.checkForGaps());
  return {
    end: async () => {
      writer.abandon();
      tracks.end();
      await leave();
    },
    finish: async () => {
      tracks.end();
      await writer.close();
      await leave();
    },
  };
}

class TrackListeners {
  readonly #deps: ListenDeps;
  readonly #writer: Batcher<DetectedTurn>;
  readonly #recording: ListenSettings['recording'];
  readonly #streams = new Set<VoicedStream>();
  #isEnded = false;

  constructor(deps: ListenDeps, writer: Batcher<DetectedTurn>, recording: ListenSettings['recording']) {
    this.#deps = deps;
    this.#writer = writer;
    this.#recording = recording;
  }

  checkForGaps(): void {
    for (const stream of this.#streams) stream.checkForGap();
  }

  /** Ends the turns of all tracks. Later sound is ignored. */
  end(): void {
    for (const stream of this.#streams) stream.flush();
    this.#isEnded = true;
  }

  /** Resolves when the track has ended. Never rejects. */
  async listen(track: AudioTrack): Promise<void> {
    if (this.#isEnded) return;
    const { log } = this.#deps;
    try {
      await this.#listenToEnd(track);
    } catch (error) {
      log.error({ trackId: track.trackId, err: error }, 'listening to a track failed');
    }
  }

  async #listenToEnd(track: AudioTrack): Promise<void> {
    const { clock, createDetector } = this.#deps;
    const memory = this.#recording.recordTracks === 1 ? new SoundMemory(createDetector()) : undefined;
    const detector = memory ?? createDetector();
    const onVoiced = (segment: VoicedSegment, startedAt: number): void =>
      this.#add(track, { segment, startedAt, sound: memory?.readSound(segment) });
    const stream = new VoicedStream({ clock, detector, onVoiced });
    this.#streams.add(stream);
    try {
      for await (const samples of track.audio) {
        if (!this.#isEnded) stream.push(samples);
      }
      if (!this.#isEnded) stream.flush();
    } finally {
      this.#streams.delete(stream);
      detector.close();
    }
  }

  #add({ trackId, identity, name }: AudioTrack, { segment, startedAt, sound }: DetectedSpeech): void {
    const endedAt = startedAt + toMs(segment.samples.length);
    const { recordingId } = this.#recording;
    const sealed = sound && this.#deps.soundBox.seal(sound, { recordingId, trackId, startedAt });
    const turn = { trackId, identity, name: name() || null, startedAt, endedAt };
    void this.#writer.add({ ...turn, sound: sealed });
  }
}

type DetectedSpeech = {
  readonly segment: VoicedSegment;
  readonly startedAt: number;
  /** Undefined when no audio is kept. */
  readonly sound: Float32Array | undefined;
};

/** Longer than any turn including the pause that ends it. */
const MEMORY_SECONDS = 30;

const LEAD_SAMPLES = SPEECH_MARGINS.leadSeconds * SAMPLE_RATE;

/** The segments of a detector of turns end a tenth of a second before speech does. */
const TAIL_SAMPLES = (SPEECH_MARGINS.tailSeconds + 0.1) * SAMPLE_RATE;

/**
 * A detector of turns that keeps its recent input, so that the audio of a turn can be read with the margins that a
 * recogniser needs. The turns themselves have no margins.
 */
class SoundMemory implements VoiceActivityDetector {
  readonly #detector: VoiceActivityDetector;
  readonly #memory = new SampleRingBuffer(MEMORY_SECONDS * SAMPLE_RATE);
  /** End of the last turn that was read, because no sample may belong to two turns. */
  #lastEnd = 0;
  #isFlushed = false;

  constructor(detector: VoiceActivityDetector) {
    this.#detector = detector;
  }

  push(samples: Float32Array): readonly VoicedSegment[] {
    if (this.#isFlushed) {
      this.#memory.clear();
      this.#lastEnd = 0;
      this.#isFlushed = false;
    }
    this.#memory.push(samples);
    return this.#detector.push(samples);
  }

  /**
   * Returns the audio of a segment that `push` or `flush` has just returned. Must be called in the order of the segments.
   */
  readSound({ start, samples }: VoicedSegment): Float32Array {
    const from = Math.max(this.#lastEnd, start - LEAD_SAMPLES);
    const sound = this.#memory.read(from, start + samples.length + TAIL_SAMPLES);
    this.#lastEnd = sound.start + sound.samples.length;
    return sound.samples;
  }

  speechSoFar(): VoicedSegment | undefined {
    return this.#detector.speechSoFar();
  }

  flush(): readonly VoicedSegment[] {
    this.#isFlushed = true;
    return this.#detector.flush();
  }

  close(): void {
    this.#detector.close();
  }
}
