import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { AudioTrack } from '../../platform/livekit/room-audio.ts';
import type { Log } from '../../platform/log.ts';
import type { AudioSpillFile, SpilledBuffer } from '../audio/audio-spill.ts';
import { recogniseSpeech } from '../engines/recognise-speech.ts';
import {
  SAMPLE_RATE,
  type SpeechEngine,
  type VoiceActivityDetector,
  type VoicedSegment,
} from '../engines/speech.ts';
import type { LiveOptions } from '../store.ts';
import { applyOptions } from './caption-text.ts';
import type { FairQueue, TrackQueue } from './fair-queue.ts';
import { InterimText } from './interim-text.ts';
import { VoicedStream } from './voiced-stream.ts';

/*
 * Transcribes one audio track of a room: voice activity detection cuts the samples into a segment at each pause, and
 * the segments are recognised in turns with those of the other tracks. Accepting samples never waits for recognition.
 * An interim result is the text of the current utterance so far, with the id that its final segment will have.
 */

export type TranscribeTrackDeps = {
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Log;
  readonly engine: SpeechEngine;
  readonly createDetector: (language: string) => VoiceActivityDetector;
  readonly queue: FairQueue;
  /** Holds samples that wait while recognition is slower than speech. */
  readonly spillFile: AudioSpillFile;
};

export type TrackRequest = {
  readonly track: AudioTrack;
  readonly transcriptionId: string;
  readonly language: string;
  readonly options: LiveOptions;
  readonly onUtterance: (utterance: Utterance) => Promise<void>;
};

/** Recognised speech: final, or interim while the speaker goes on. */
export type Utterance = {
  readonly segmentId: string;
  readonly track: AudioTrack;
  readonly text: string;
  readonly confidence: number | null;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly isFinal: boolean;
};

/** Minimum time between two interim results. */
const INTERIM_INTERVAL_MS = 700;
/** Shorter speech holds no word yet. */
const MIN_INTERIM_SAMPLES = SAMPLE_RATE * 0.4;
/** Further waiting segments are spilled to disk. One segment takes up to half a megabyte. */
const MAX_WAITING_IN_MEMORY = 40;

export class TrackTranscriber {
  readonly #deps: TranscribeTrackDeps;
  readonly #request: TrackRequest;
  readonly #detector: VoiceActivityDetector;
  readonly #queue: TrackQueue;
  readonly #stream: VoicedStream;
  /** Segments on disk that have not been recognised yet. */
  readonly #spilled = new Set<Promise<SpilledBuffer>>();
  /** The current utterance, once an interim result needed its id. */
  #current: CurrentUtterance | undefined;
  #interimAt = 0;

  constructor(deps: TranscribeTrackDeps, request: TrackRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#detector = deps.createDetector(request.language);
    this.#queue = deps.queue.open();
    this.#stream = new VoicedStream({
      clock: deps.clock,
      detector: this.#detector,
      onVoiced: (segment, startedAt) => this.#add(segment, startedAt),
      onRestart: () => {
        this.#current = undefined;
      },
    });
  }

  push(samples: Float32Array): void {
    if (this.#stream.push(samples) && this.#request.options.partialResults) this.#interim();
  }

  /** Ends the current utterance when samples stopped arriving. Call it several times a second. */
  checkForGap(): void {
    this.#stream.checkForGap();
  }

  /** Ends the current utterance; resolves when all utterances have been emitted. */
  async finish(): Promise<void> {
    this.#stream.flush();
    await this.#queue.drained();
    this.close();
  }

  /** Drops segments that have not been recognised yet. */
  close(): void {
    this.#queue.close();
    this.#detector.close();
    for (const spilled of this.#spilled) void spilled.then(({ discard }) => discard());
    this.#spilled.clear();
  }

  /** A long utterance is cut into several segments: the first one gets the id that its interim results had. */
  #add(segment: VoicedSegment, startedAt: number): void {
    const segmentId = this.#current?.segmentId ?? this.#newId();
    this.#current = undefined;
    const held = this.#hold(segment);
    const seconds = segment.samples.length / SAMPLE_RATE;
    this.#queue.addFinal(() => this.#recogniseHeld(held, { segmentId, startedAt }), seconds);
  }

  /** Holds the samples in memory, or on disk when many segments wait: no final segment is ever dropped. */
  #hold(segment: VoicedSegment): () => Promise<VoicedSegment> {
    if (this.#deps.queue.waiting < MAX_WAITING_IN_MEMORY) return inMemory(segment);
    const { start } = segment;
    const spilled = spillToDisk(this.#deps, segment.samples);
    this.#spilled.add(spilled);
    // The closure must not capture `segment`: that would hold its samples in memory as long as it waits.
    return async () => {
      this.#spilled.delete(spilled);
      const { read } = await spilled;
      return { start, samples: await read() };
    };
  }

  async #recogniseHeld(held: () => Promise<VoicedSegment>, about: Omit<Voiced, 'segment'>): Promise<void> {
    const { transcriptionId, track } = this.#request;
    try {
      await this.#recognise({ ...about, segment: await held() });
    } catch (error) {
      const fields = { transcriptionId, trackId: track.trackId, err: error };
      this.#deps.log.error(fields, 'the samples of a segment that waited for recognition could not be read');
    }
  }

  async #recognise({ segmentId, segment, startedAt }: Voiced): Promise<void> {
    const { track, transcriptionId, language, onUtterance, options } = this.#request;
    // Audio is sent to a server at most twice: as an interim result and as a final, or as a final and in halves.
    const isTriedInHalves = !(this.#deps.engine.isRemoteFor(language) && options.partialResults);
    const request = { segment, language, transcriptionId, trackId: track.trackId, isTriedInHalves };
    const recognised = await recogniseSpeech(this.#deps, request);
    for (const [index, { start, samples, text, confidence }] of recognised.entries()) {
      const from = startedAt + toMs(start - segment.start);
      await onUtterance({
        segmentId: index === 0 ? segmentId : this.#newId(),
        track,
        text: applyOptions(text, options),
        confidence,
        startedAt: from,
        endedAt: from + toMs(samples.length),
        isFinal: true,
      });
    }
  }

  #interim(): void {
    const now = this.#deps.clock.now();
    const voiced = this.#detector.current();
    if (voiced === undefined || voiced.samples.length < MIN_INTERIM_SAMPLES) return;
    if (now - this.#interimAt < INTERIM_INTERVAL_MS) return;
    this.#interimAt = now;
    const { engine } = this.#deps;
    this.#current ??= {
      segmentId: this.#newId(),
      interim: new InterimText(engine, this.#request.language),
    };
    const current = this.#current;
    const startedAt = this.#stream.at(voiced.start);
    this.#queue.setInterim(() => this.#recogniseInterim(current, voiced, startedAt));
  }

  /** An interim result may fail or come too late: the final one covers the same speech. */
  async #recogniseInterim(
    current: CurrentUtterance,
    voiced: VoicedSegment,
    startedAt: number,
  ): Promise<void> {
    const { track, transcriptionId, onUtterance, options } = this.#request;
    try {
      const recognised = await current.interim.recognise(voiced);
      const text = recognised?.text.trim() ?? '';
      if (this.#current !== current || text === '') return;
      await onUtterance({
        segmentId: current.segmentId,
        track,
        text: applyOptions(text, options),
        confidence: recognised?.confidence ?? null,
        startedAt,
        endedAt: startedAt + toMs(voiced.samples.length),
        isFinal: false,
      });
    } catch (error) {
      this.#deps.log.debug(
        { transcriptionId, trackId: track.trackId, err: error },
        'an interim result failed',
      );
    }
  }

  #newId(): string {
    return `seg_${this.#deps.ids.next()}`;
  }
}

type CurrentUtterance = { readonly segmentId: string; readonly interim: InterimText };

type Voiced = { readonly segmentId: string; readonly segment: VoicedSegment; readonly startedAt: number };

function inMemory(segment: VoicedSegment): () => Promise<VoicedSegment> {
  return async () => segment;
}

async function spillToDisk(
  { spillFile, log }: Pick<TranscribeTrackDeps, 'spillFile' | 'log'>,
  samples: Float32Array,
): Promise<SpilledBuffer> {
  try {
    return await spillFile.write(samples);
  } catch (error) {
    log.warn({ err: error }, 'recognition is behind, and waiting samples cannot be written to disk');
    return { read: async () => samples, discard: () => {} };
  }
}

function toMs(samples: number): number {
  return Math.round((samples / SAMPLE_RATE) * 1000);
}
