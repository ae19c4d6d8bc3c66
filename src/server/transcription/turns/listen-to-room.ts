import type { AudioTrack } from '../../platform/livekit/room-audio.ts';
import { SampleRingBuffer } from '../audio/sample-ring-buffer.ts';
import { SPEECH_MARGINS } from '../audio/voice-activity.ts';
import { SAMPLE_RATE, type VoiceActivityDetector, type VoicedSegment } from '../engines/speech.ts';
import { checkForGaps, type StayDeps, stayInRoom } from '../live/stay-in-room.ts';
import { VoicedStream } from '../live/voiced-stream.ts';
import type { SoundBox } from './sound-box.ts';
import type { ListenedRecording } from './store.ts';
import { TurnWriter, type TurnWriterDeps } from './turn-writer.ts';

/*
 * Listens to one room that is recorded, as a hidden agent: a voice activity detector finds when each track has speech.
 * Nothing is recognised. Audio is kept, encrypted, only of turns in a recording with recordTracks.
 */

export type ListenDeps = StayDeps &
  TurnWriterDeps & {
    /** Creates the detector of one track, with TURN_MARGINS. */
    readonly createDetector: () => VoiceActivityDetector;
    readonly soundBox: Pick<SoundBox, 'seal'>;
  };

export type ListenSettings = {
  readonly recording: Pick<ListenedRecording, 'recordingId' | 'room' | 'recordTracks'>;
  readonly owner: string;
  /** Whether our lease is still valid. Without it another worker may be in the room, and joining would disconnect it. */
  readonly isHeld: () => boolean;
  readonly onRefused: () => void;
};

export type Listening = {
  /** Leaves the room at once and drops turns that are not stored yet. */
  readonly end: () => Promise<void>;
  /** Stores who spoke so far, then leaves the room. */
  readonly finish: () => Promise<void>;
};

export function listenToRoom(deps: ListenDeps, settings: ListenSettings): Listening {
  const { recordingId, room } = settings.recording;
  const writer = new TurnWriter(deps, { ...settings, recordingId });
  const tracks = new TrackListeners(deps, writer, settings.recording);
  const ending = new AbortController();
  const { signal } = ending;
  const staying = stayInRoom(deps, {
    ...{ room, identity: `stt-turns-${recordingId}`, isHeld: settings.isHeld, signal },
    fields: { recordingId },
    onTrack: (track) => void tracks.listen(track),
  });
  const checking = checkForGaps({ clock: deps.clock, check: () => tracks.checkForGaps(), signal });
  const leave = async (): Promise<void> => {
    ending.abort();
    await Promise.all([staying, checking]);
  };
  return {
    end: async () => {
      writer.close();
      tracks.end();
      await leave();
    },
    finish: async () => {
      tracks.end();
      await writer.flush();
      await leave();
    },
  };
}

class TrackListeners {
  readonly #deps: ListenDeps;
  readonly #writer: TurnWriter;
  readonly #recording: ListenSettings['recording'];
  readonly #streams = new Set<VoicedStream>();
  #isEnded = false;

  constructor(deps: ListenDeps, writer: TurnWriter, recording: ListenSettings['recording']) {
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
      this.#add(track, { segment, startedAt, sound: memory?.soundOf(segment) });
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
    const endedAt = startedAt + Math.round((segment.samples.length / SAMPLE_RATE) * 1000);
    const { recordingId } = this.#recording;
    const sealed = sound && this.#deps.soundBox.seal(sound, { recordingId, trackId, startedAt });
    const turn = { trackId, identity, name: name() || null, startedAt, endedAt };
    this.#writer.add({ ...turn, sound: sealed });
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
  soundOf({ start, samples }: VoicedSegment): Float32Array {
    const from = Math.max(this.#lastEnd, start - LEAD_SAMPLES);
    const sound = this.#memory.read(from, start + samples.length + TAIL_SAMPLES);
    this.#lastEnd = sound.start + sound.samples.length;
    return sound.samples;
  }

  current(): VoicedSegment | undefined {
    return this.#detector.current();
  }

  flush(): readonly VoicedSegment[] {
    this.#isFlushed = true;
    return this.#detector.flush();
  }

  close(): void {
    this.#detector.close();
  }
}
