import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { AudioTrack } from '../../platform/livekit/room-audio.ts';
import type { Log } from '../../platform/log.ts';
import type { AudioSpillFile, SpilledBuffer } from '../audio/audio-spill-file.ts';
import { type RecognisedSegment, recogniseSpeech } from '../engines/recognise-speech.ts';
import { limitConfidence } from '../engines/recognise-with-retry.ts';
import { placeWords } from '../engines/sherpa-engine.ts';
import {
  chooseLanguage,
  type PauseDetector,
  type Recognition,
  SAMPLE_RATE,
  type SpeechEngine,
  type VoicedSegment,
} from '../engines/speech.ts';
import type { LiveOptions, StoredWord } from '../store.ts';
import type { FairQueue, TrackQueue } from './fair-queue.ts';
import { applyOptions, InterimText, StableText, wordsWithOptions } from './interim-text.ts';
import { VoicedStream } from './voiced-stream.ts';

/*
 * Transcribes one audio track of a room: voice activity detection cuts the samples into a segment at each pause, and
 * the segments are recognised in turns with those of the other tracks. Accepting samples never waits for recognition.
 * An interim result is the text of the current utterance so far, with the id that its final segment will have. A pause
 * that may end the utterance has it recognised at once, so that the text is there when the pause is long enough.
 */

export type TranscribeTrackDeps = {
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Log;
  readonly engine: SpeechEngine;
  readonly createDetector: (language: string) => PauseDetector;
  readonly queue: FairQueue;
  /** Holds samples that wait while recognition is slower than speech. */
  readonly spillFile: AudioSpillFile;
};

type TrackRequest = {
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
  /** BCP 47. */
  readonly language: string;
  readonly confidence: number | null;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Words with times: only in final results of models that return times. */
  readonly words?: readonly StoredWord[];
  readonly isFinal: boolean;
};

/** Minimum time between two interim results. */
const INTERIM_INTERVAL_MS = 700;

/** Shorter speech holds no word yet. */
const MIN_INTERIM_SAMPLES = SAMPLE_RATE * 0.4;

/** A pause of this length ends an utterance whose text is a sentence. Other utterances end after a longer pause. */
const SENTENCE_PAUSE_SECONDS = 0.25;

export class TrackTranscriber {
  readonly #deps: TranscribeTrackDeps;
  readonly #request: TrackRequest;
  readonly #detector: PauseDetector;
  readonly #queue: TrackQueue;
  readonly #stream: VoicedStream;
  readonly #waiting: WaitingSegments;
  /** The current utterance, once an interim result needed its id. */
  #current: CurrentUtterance | undefined;
  /** The early recognition of the current utterance, which began with a pause in it. */
  #speculation: Speculation | undefined;
  #interimAt = 0;

  constructor(deps: TranscribeTrackDeps, request: TrackRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#detector = deps.createDetector(request.language);
    this.#queue = deps.queue.open();
    this.#waiting = new WaitingSegments(deps);
    this.#stream = new VoicedStream({
      clock: deps.clock,
      detector: this.#detector,
      onVoiced: (segment, startedAt) => this.#add(segment, startedAt),
      onRestart: () => {
        this.#current = undefined;
        this.#speculation = undefined;
      },
    });
  }

  push(samples: Float32Array): void {
    if (!this.#stream.push(samples)) return;
    const isPausing = this.#speculate();
    this.#endSentence();
    if (this.#request.options.partialResults && !isPausing) this.#interim();
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
    this.#waiting.close();
  }

  /** A long utterance is cut into several segments: the first one gets the id that its interim results had. */
  #add(segment: VoicedSegment, startedAt: number): void {
    const segmentId = this.#current?.segmentId ?? this.#newId();
    this.#current = undefined;
    const span = toSpan(segment);
    const speculation = this.#speculation;
    this.#speculation = undefined;
    const ended = { segmentId, startedAt, endedAt: this.#deps.clock.monotonic() };
    const held = this.#waiting.hold(segment);
    this.#queue.addFinal(() => this.#recogniseHeld(held, { ...ended, speculation }), {
      seconds: segment.samples.length / SAMPLE_RATE,
      isReady: () => speculation?.findRecognition(span) !== undefined,
    });
  }

  async #recogniseHeld(held: () => Promise<VoicedSegment>, ended: EndedUtterance): Promise<void> {
    const { transcriptionId, track } = this.#request;
    try {
      await this.#recognise(await held(), ended);
    } catch (error) {
      const fields = { transcriptionId, trackId: track.trackId, err: error };
      this.#deps.log.error(fields, 'the samples of a segment that waited for recognition could not be read');
    }
  }

  async #recognise(segment: VoicedSegment, ended: EndedUtterance): Promise<void> {
    const { track, transcriptionId, language, onUtterance, options } = this.#request;
    const { segmentId, startedAt, endedAt, speculation } = ended;
    // Audio is sent to a server at most twice: as an interim result and as a final, or as a final and in halves.
    const isTriedInHalves = !(this.#deps.engine.isRemoteFor(language) && options.partialResults);
    const request = { segment, language, transcriptionId, trackId: track.trackId, isTriedInHalves };
    const early = speculation?.findRecognition(toSpan(segment));
    const recognised =
      early === undefined ? await recogniseSpeech(this.#deps, request) : [{ ...segment, ...early }];
    const waitedMs = Math.round(this.#deps.clock.monotonic() - endedAt);
    this.#deps.log.debug({ segmentId, waitedMs, isEarly: early !== undefined }, 'recognised a segment');
    for (const [index, one] of recognised.entries()) {
      const { start, samples, text, confidence } = one;
      const from = startedAt + toMs(start - segment.start);
      await onUtterance({
        segmentId: index === 0 ? segmentId : this.#newId(),
        track,
        text: applyOptions(text, options),
        language: chooseLanguage(one, language),
        confidence,
        startedAt: from,
        endedAt: from + toMs(samples.length),
        ...wordsWithOptions(placeWords(one, from), options),
        isFinal: true,
      });
    }
  }

  /** Starts the early recognition when the current utterance has a pause. Returns whether it has one. */
  #speculate(): boolean {
    const { engine } = this.#deps;
    // Not for servers: the same audio would be sent again after every pause.
    if (engine.isRemoteFor(this.#request.language)) return false;
    const pause = this.#detector.pause();
    if (pause === undefined) this.#speculation = undefined;
    if (pause === undefined || this.#speculation !== undefined) return pause !== undefined;
    const current = this.#detector.current();
    if (current === undefined) return false;
    const { start } = current;
    const voiced = { start, samples: current.samples.subarray(0, pause.utteranceEnd - start) };
    const speculation = new Speculation(toSpan(voiced));
    this.#speculation = speculation;
    const recognise = async (): Promise<Recognition | undefined> =>
      this.#speculation === speculation
        ? await speculation.recognise(engine, voiced, this.#request.language)
        : undefined;
    this.#queue.setEarly(this.#interimWork(voiced, recognise));
    return true;
  }

  /** Ends the current utterance in a pause that is long enough for a whole sentence, if its text is one. */
  #endSentence(): void {
    const pauseSeconds = this.#detector.pause()?.seconds ?? 0;
    if (pauseSeconds < SENTENCE_PAUSE_SECONDS || this.#speculation?.isSentence !== true) return;
    this.#stream.emit(this.#detector.endAtPause());
  }

  #interim(): void {
    const now = this.#deps.clock.now();
    if (now - this.#interimAt < INTERIM_INTERVAL_MS) return;
    const voiced = this.#detector.current();
    if (voiced === undefined || voiced.samples.length < MIN_INTERIM_SAMPLES) return;
    this.#interimAt = now;
    const { interim } = this.#openCurrent();
    this.#queue.setInterim(this.#interimWork(voiced, () => interim.recognise(voiced)));
  }

  #openCurrent(): CurrentUtterance {
    const interim = () => new InterimText(this.#deps.engine, this.#request.language);
    this.#current ??= { segmentId: this.#newId(), interim: interim(), shown: new StableText() };
    return this.#current;
  }

  /** An interim result may fail or come too late: the final one covers the same speech. */
  #interimWork(
    voiced: VoicedSegment,
    recognise: () => Promise<Recognition | undefined>,
  ): () => Promise<void> {
    const { transcriptionId, track, options } = this.#request;
    const current = options.partialResults ? this.#openCurrent() : undefined;
    const startedAt = this.#stream.at(voiced.start);
    return async () => {
      try {
        const recognised = await recognise();
        if (recognised === undefined || current === undefined || this.#current !== current) return;
        await this.#emitInterim(current, { ...voiced, ...recognised }, startedAt);
      } catch (error) {
        const fields = { transcriptionId, trackId: track.trackId, err: error };
        this.#deps.log.debug(fields, 'an interim result failed');
      }
    };
  }

  async #emitInterim(
    { segmentId, shown }: CurrentUtterance,
    recognised: RecognisedSegment,
    startedAt: number,
  ): Promise<void> {
    const { track, onUtterance, options, language } = this.#request;
    const { samples, text, confidence } = recognised;
    if (text.trim() === '') return;
    await onUtterance({
      segmentId,
      track,
      text: applyOptions(shown.next(text), options),
      language: chooseLanguage(recognised, language),
      confidence,
      startedAt,
      endedAt: startedAt + toMs(samples.length),
      isFinal: false,
    });
  }

  #newId(): string {
    return `seg_${this.#deps.ids.next()}`;
  }
}

type CurrentUtterance = {
  readonly segmentId: string;
  readonly interim: InterimText;
  readonly shown: StableText;
};

type EndedUtterance = {
  readonly segmentId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** When the end of the speech was noticed, in monotonic milliseconds. */
  readonly endedAt: number;
  readonly speculation: Speculation | undefined;
};

function toMs(samples: number): number {
  return Math.round((samples / SAMPLE_RATE) * 1000);
}

type WaitingSegmentsDeps = {
  readonly log: Log;
  readonly queue: Pick<FairQueue, 'waiting'>;
  /** Holds samples that wait while recognition is slower than speech. */
  readonly spillFile: AudioSpillFile;
};

/** Further waiting segments are spilled to disk. One segment takes up to half a megabyte. */
const MAX_WAITING_IN_MEMORY = 40;

/** Holds the segments of a track that wait for recognition, in memory or on disk: no final segment is ever dropped. */
class WaitingSegments {
  readonly #deps: WaitingSegmentsDeps;
  /** Segments on disk that have not been recognised yet. */
  readonly #spilled = new Set<Promise<SpilledBuffer>>();

  constructor(deps: WaitingSegmentsDeps) {
    this.#deps = deps;
  }

  /** Returns a function that returns the segment, which may be called once. */
  hold(segment: VoicedSegment): () => Promise<VoicedSegment> {
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

  /** Drops those on disk. */
  close(): void {
    for (const spilled of this.#spilled) void spilled.then(({ discard }) => discard());
    this.#spilled.clear();
  }
}

function inMemory(segment: VoicedSegment): () => Promise<VoicedSegment> {
  return async () => segment;
}

async function spillToDisk(
  { spillFile, log }: Pick<WaitingSegmentsDeps, 'spillFile' | 'log'>,
  samples: Float32Array,
): Promise<SpilledBuffer> {
  try {
    return await spillFile.write(samples);
  } catch (error) {
    log.warn({ err: error }, 'recognition is behind, and waiting samples cannot be written to disk');
    return { read: async () => samples, discard: () => {} };
  }
}

/** A mark that ends a sentence in any script, but not an ellipsis; brackets and quotation marks may follow. */
const SENTENCE_END = /(?<!\.)\p{Sentence_Terminal}[\p{Final_Punctuation}\p{Close_Punctuation}"']*$/u;

/** Indices of samples in a stream. */
type SampleSpan = { readonly start: number; readonly end: number };

/**
 * Recognises the current utterance when a pause begins, before it is known whether the pause ends the utterance. If it does,
 * the text is available at once. If the speaker continues, the result is not used.
 */
export class Speculation {
  readonly #span: SampleSpan;
  #recognition: Recognition | undefined;

  constructor(span: SampleSpan) {
    this.#span = span;
  }

  /** Whether the text is there and ends like a sentence: then the speaker has probably finished. */
  get isSentence(): boolean {
    return SENTENCE_END.test(this.#recognition?.text.trimEnd() ?? '');
  }

  /** Rejects as the engine does. */
  async recognise(engine: SpeechEngine, { samples }: VoicedSegment, language: string): Promise<Recognition> {
    const recognition = await engine.recognise({ samples, language });
    this.#recognition = limitConfidence(recognition, samples.length / SAMPLE_RATE);
    return this.#recognition;
  }

  /**
   * Returns the recognition of a segment; undefined when the segment is not the expected utterance, or when the recognition
   * has no text.
   */
  findRecognition({ start, end }: SampleSpan): Recognition | undefined {
    const isExpected = start === this.#span.start && end === this.#span.end;
    return isExpected && this.#recognition?.text !== '' ? this.#recognition : undefined;
  }
}

function toSpan({ start, samples }: VoicedSegment): SampleSpan {
  return { start, end: start + samples.length };
}
