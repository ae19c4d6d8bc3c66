import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { HeardTrack } from '../../platform/livekit/room-audio.ts';
import type { Log } from '../../platform/log.ts';
import type { SampleShelf, ShelvedSamples } from '../audio/audio-spill.ts';
import { recogniseSpeech } from '../engines/recognise-speech.ts';
import {
  SAMPLE_RATE,
  type SpeechEngine,
  type VoiceActivityDetector,
  type VoicedSegment,
} from '../engines/speech.ts';
import type { LiveOptions } from '../store.ts';
import { applyOptions } from './caption-text.ts';
import type { FairQueue, Lane } from './fair-queue.ts';
import { StreamClock } from './stream-clock.ts';

/*
 * One audio track of a room, from samples to text: voice activity, a segment at each pause, recognition in turns with
 * the other tracks. Samples are taken as they come and nothing here waits for recognition.
 *
 *   gap      muted, vanished or held up: what was being said is ended, and the stream begins anew at its next sample
 *   interim  what is voiced at the moment, as far as it goes, under the id of the segment that it becomes
 */

export type TranscribeTrackDeps = {
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Log;
  readonly engine: SpeechEngine;
  readonly createDetector: () => VoiceActivityDetector;
  readonly queue: FairQueue;
  /** For what waits while recognition is slower than speech. */
  readonly shelf: SampleShelf;
};

export type TrackRequest = {
  readonly track: HeardTrack;
  readonly transcriptionId: string;
  readonly language: string;
  readonly options: LiveOptions;
  readonly onWords: (words: Words) => Promise<void>;
};

/** What was said, or is being said. */
export type Words = {
  readonly segmentId: string;
  readonly track: HeardTrack;
  readonly text: string;
  readonly confidence: number | null;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly isFinal: boolean;
};

/** How often interim results come. */
const INTERIM_MS = 700;
/** Less is not a word yet. */
const SHORTEST_INTERIM = SAMPLE_RATE * 0.4;
/** A muted track is silence to the last bit, which no microphone is: for so long, it is listened to no more. */
const DEAD_SAMPLES = SAMPLE_RATE;
/** Two steps of 16-bit samples: what resampling leaves of nothing. */
const DEAD_LEVEL = 2 / 32_768;

/** Segments that wait: half a megabyte each at most. */
const MOST_IN_MEMORY = 40;

export class TrackTranscriber {
  readonly #deps: TranscribeTrackDeps;
  readonly #request: TrackRequest;
  readonly #detector: VoiceActivityDetector;
  readonly #lane: Lane;
  readonly #time = new StreamClock();
  /** What is out of memory and has not come to its turn. */
  readonly #shelved = new Set<Promise<ShelvedSamples>>();
  #deadSamples = DEAD_SAMPLES;
  /** Of what is voiced at the moment. */
  #segmentId: string | undefined;
  #interimAt = 0;

  constructor(deps: TranscribeTrackDeps, request: TrackRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#detector = deps.createDetector();
    this.#lane = deps.queue.open();
  }

  hear(samples: Float32Array): void {
    const now = this.#deps.clock.now();
    this.#deadSamples = isDead(samples) ? this.#deadSamples + samples.length : 0;
    if (this.#deadSamples >= DEAD_SAMPLES) {
      this.flush();
      return;
    }
    if (!this.#time.note(samples.length, now)) {
      this.flush();
      this.#time.note(samples.length, now);
    }
    this.#add(this.#detector.push(samples));
    if (this.#request.options.partialResults) this.#interim(now);
  }

  /** To be called several times a second: samples that do not come tell nothing by themselves. */
  watch(): void {
    if (this.#time.isInterrupted(this.#deps.clock.now())) this.flush();
  }

  /** Ends what is being said. */
  flush(): void {
    if (!this.#time.isRunning) return;
    this.#add(this.#detector.flush());
    this.#time.restart();
    this.#segmentId = undefined;
  }

  /** Ends what is being said; resolves when all of it has been told. */
  async finish(): Promise<void> {
    this.flush();
    await this.#lane.drained();
    this.close();
  }

  /** What has not been recognised is dropped. */
  close(): void {
    this.#lane.close();
    this.#detector.close();
    for (const shelved of this.#shelved) void shelved.then(({ drop }) => drop());
    this.#shelved.clear();
  }

  /** A long segment comes in pieces: the first has the id that its interim results had. */
  #add(segments: readonly VoicedSegment[]): void {
    for (const segment of segments) {
      const segmentId = this.#segmentId ?? this.#newId();
      this.#segmentId = undefined;
      const startedAt = this.#time.at(segment.start);
      const kept = this.#keep(segment);
      this.#lane.addFinal(() => this.#recogniseKept(kept, { segmentId, startedAt }));
    }
  }

  /** In memory, or out of it when there is a crowd: no final is ever dropped. */
  #keep(segment: VoicedSegment): () => Promise<VoicedSegment> {
    if (this.#deps.queue.waiting < MOST_IN_MEMORY) return inMemory(segment);
    const { start } = segment;
    const shelved = putAway(this.#deps, segment.samples);
    this.#shelved.add(shelved);
    // The samples themselves are in no closure here: it would hold them as long as the segment waits.
    return async () => {
      this.#shelved.delete(shelved);
      const { take } = await shelved;
      return { start, samples: await take() };
    };
  }

  async #recogniseKept(kept: () => Promise<VoicedSegment>, about: Omit<Voiced, 'segment'>): Promise<void> {
    const { transcriptionId, track } = this.#request;
    try {
      await this.#recognise({ ...about, segment: await kept() });
    } catch (error) {
      const fields = { transcriptionId, trackId: track.trackId, err: error };
      this.#deps.log.error(fields, 'speech was heard, but could not be kept until its turn');
    }
  }

  async #recognise({ segmentId, segment, startedAt }: Voiced): Promise<void> {
    const { track, transcriptionId, language, onWords, options } = this.#request;
    const request = { segment, language, transcriptionId, trackId: track.trackId };
    const spoken = await recogniseSpeech(this.#deps, request);
    for (const [index, { start, samples, text, confidence }] of spoken.entries()) {
      const from = startedAt + toMs(start - segment.start);
      await onWords({
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

  #interim(now: number): void {
    const voiced = this.#detector.current();
    if (voiced === undefined || voiced.samples.length < SHORTEST_INTERIM) return;
    if (now - this.#interimAt < INTERIM_MS) return;
    this.#interimAt = now;
    this.#segmentId ??= this.#newId();
    const segmentId = this.#segmentId;
    const startedAt = this.#time.at(voiced.start);
    this.#lane.setInterim(() => this.#recogniseInterim({ segmentId, segment: voiced, startedAt }));
  }

  /** It may fail, or come late: the final tells all of it. */
  async #recogniseInterim({ segmentId, segment: { samples }, startedAt }: Voiced): Promise<void> {
    const { engine, log } = this.#deps;
    const { track, transcriptionId, language, onWords, options } = this.#request;
    try {
      const { text, confidence } = await engine.recognise({ samples, language });
      const isOver = this.#segmentId !== segmentId;
      if (isOver || text.trim() === '') return;
      const endedAt = startedAt + toMs(samples.length);
      const words = {
        segmentId,
        track,
        text: applyOptions(text.trim(), options),
        confidence,
        startedAt,
        endedAt,
      };
      await onWords({ ...words, isFinal: false });
    } catch (error) {
      log.debug({ transcriptionId, trackId: track.trackId, err: error }, 'an interim result failed');
    }
  }

  #newId(): string {
    return `seg_${this.#deps.ids.next()}`;
  }
}

type Voiced = { readonly segmentId: string; readonly segment: VoicedSegment; readonly startedAt: number };

function inMemory(segment: VoicedSegment): () => Promise<VoicedSegment> {
  return async () => segment;
}

async function putAway(
  { shelf, log }: Pick<TranscribeTrackDeps, 'shelf' | 'log'>,
  samples: Float32Array,
): Promise<ShelvedSamples> {
  try {
    return await shelf.put(samples);
  } catch (error) {
    log.warn({ err: error }, 'recognition is behind, and there is no disk for what waits');
    return { take: async () => samples, drop: () => {} };
  }
}

function isDead(samples: Float32Array): boolean {
  return samples.every((sample) => Math.abs(sample) <= DEAD_LEVEL);
}

function toMs(samples: number): number {
  return Math.round((samples / SAMPLE_RATE) * 1000);
}
