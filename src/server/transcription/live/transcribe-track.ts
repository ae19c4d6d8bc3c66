import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { AudioTrack } from '../../platform/livekit/room-audio.ts';
import type { Log } from '../../platform/log.ts';
import { type AudioSpillFile, WaitingSegments } from '../audio/audio-spill-file.ts';
import { type RecognisedSegment, recogniseSpeech } from '../engines/recognise-speech.ts';
import { placeWords } from '../engines/sherpa-engine.ts';
import {
  chooseLanguage,
  type PauseDetector,
  type Recognition,
  SAMPLE_RATE,
  type SpeechEngine,
  toMs,
  type VoicedSegment,
} from '../engines/speech.ts';
import type { LiveOptions, StoredWord } from '../store.ts';
import type { FairQueue, TrackQueue } from './fair-queue.ts';
import {
  applyOptions,
  EarlyRecognition,
  InterimText,
  StableText,
  toSampleSpan,
  wordsWithOptions,
} from './interim-text.ts';
import { VoicedStream } from './voiced-stream.ts';

/*
 * Transcribes one audio track of a room: voice activity detection cuts the samples into a segment at each pause, and
 * the segments are recognised in turns with the segments of other tracks. Accepting samples never waits for recognition.
 * An interim result is the text of the utterance so far, with the id that its final segment will have. A pause that may
 * end the utterance has it recognised early, so that the text is there when the pause is long enough.
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
  /** The utterance that has not ended, once an interim result needed its id. */
  #unfinished: UnfinishedUtterance | undefined;
  /** The recognition that began with the pause in the unfinished utterance; undefined while somebody speaks. */
  #early: EarlyRecognition | undefined;
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
        this.#unfinished = undefined;
        this.#early = undefined;
      },
    });
  }

  push(samples: Float32Array): void {
    if (!this.#stream.push(samples)) return;
    const isPausing = this.#recogniseInPause();
    this.#endSentence();
    if (this.#request.options.partialResults && !isPausing) this.#recogniseInterim();
  }

  /** Ends the utterance when samples stopped arriving. Call it several times a second. */
  checkForGap(): void {
    this.#stream.checkForGap();
  }

  /** Ends the utterance; resolves when all utterances have been emitted. */
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
    const segmentId = this.#unfinished?.segmentId ?? this.#newId();
    this.#unfinished = undefined;
    const span = toSampleSpan(segment);
    const early = this.#early;
    this.#early = undefined;
    const ended = { segmentId, startedAt, early, waitsSinceMs: this.#deps.clock.monotonic() };
    const held = this.#waiting.hold(segment);
    this.#queue.addFinal(() => this.#recogniseHeld(held, ended), {
      seconds: segment.samples.length / SAMPLE_RATE,
      isReady: () => early?.findRecognition(span) !== undefined,
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
    const { segmentId, startedAt, early, waitsSinceMs } = ended;
    // Audio is sent to a server at most twice: as an interim result and as a final, or as a final and in halves.
    const isTriedInHalves = !(this.#deps.engine.isRemoteFor(language) && options.partialResults);
    const request = { segment, language, transcriptionId, trackId: track.trackId, isTriedInHalves };
    const found = early?.findRecognition(toSampleSpan(segment));
    const recognised =
      found === undefined ? await recogniseSpeech(this.#deps, request) : [{ ...segment, ...found }];
    const waitedMs = Math.round(this.#deps.clock.monotonic() - waitsSinceMs);
    this.#deps.log.debug({ segmentId, waitedMs, isEarly: found !== undefined }, 'recognised a segment');
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

  /** Starts the early recognition when the unfinished utterance has a pause. Returns whether it has one. */
  #recogniseInPause(): boolean {
    const { engine } = this.#deps;
    // Not for servers: the same audio would be sent again after every pause.
    if (engine.isRemoteFor(this.#request.language)) return false;
    const pause = this.#detector.pause();
    if (pause === undefined) this.#early = undefined;
    if (pause === undefined || this.#early !== undefined) return pause !== undefined;
    const soFar = this.#detector.speechSoFar();
    if (soFar === undefined) return false;
    const { start } = soFar;
    const voiced = { start, samples: soFar.samples.subarray(0, pause.utteranceEnd - start) };
    const early = new EarlyRecognition(toSampleSpan(voiced));
    this.#early = early;
    const recognise = async (): Promise<Recognition | undefined> =>
      this.#early === early ? await early.recognise(engine, voiced, this.#request.language) : undefined;
    this.#queue.setEarly(this.#toInterimWork(voiced, recognise));
    return true;
  }

  /** Ends the utterance in a pause that is long enough for a whole sentence, if its text is one. */
  #endSentence(): void {
    const pauseSeconds = this.#detector.pause()?.seconds ?? 0;
    if (pauseSeconds < SENTENCE_PAUSE_SECONDS || this.#early?.isSentence !== true) return;
    this.#stream.emit(this.#detector.endAtPause());
  }

  #recogniseInterim(): void {
    const now = this.#deps.clock.now();
    if (now - this.#interimAt < INTERIM_INTERVAL_MS) return;
    const voiced = this.#detector.speechSoFar();
    if (voiced === undefined || voiced.samples.length < MIN_INTERIM_SAMPLES) return;
    this.#interimAt = now;
    const { interim } = this.#openUnfinished();
    this.#queue.setInterim(this.#toInterimWork(voiced, () => interim.recognise(voiced)));
  }

  #openUnfinished(): UnfinishedUtterance {
    const interim = () => new InterimText(this.#deps.engine, this.#request.language);
    this.#unfinished ??= { segmentId: this.#newId(), interim: interim(), shown: new StableText() };
    return this.#unfinished;
  }

  /** An interim result may fail or come too late: the final one covers the same speech. */
  #toInterimWork(
    voiced: VoicedSegment,
    recognise: () => Promise<Recognition | undefined>,
  ): () => Promise<void> {
    const { transcriptionId, track, options } = this.#request;
    const utterance = options.partialResults ? this.#openUnfinished() : undefined;
    const startedAt = this.#stream.at(voiced.start);
    return async () => {
      try {
        const recognised = await recognise();
        if (recognised === undefined || utterance === undefined || this.#unfinished !== utterance) return;
        await this.#emitInterim(utterance, { ...voiced, ...recognised }, startedAt);
      } catch (error) {
        const fields = { transcriptionId, trackId: track.trackId, err: error };
        this.#deps.log.debug(fields, 'an interim result failed');
      }
    };
  }

  async #emitInterim(
    { segmentId, shown }: UnfinishedUtterance,
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

type UnfinishedUtterance = {
  readonly segmentId: string;
  readonly interim: InterimText;
  readonly shown: StableText;
};

type EndedUtterance = {
  readonly segmentId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly early: EarlyRecognition | undefined;
  /** Monotonic milliseconds of when the end of the speech was noticed: recognition is measured from there. */
  readonly waitsSinceMs: number;
};
