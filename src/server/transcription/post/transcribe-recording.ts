import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Recording } from '../../recordings/store.ts';
import { type RecordingAudio, TranscriptionError } from '../audio/ffmpeg-audio.ts';
import { splitSegment } from '../audio/split-segment.ts';
import { halve, type RecognisedSegment, recogniseWithRetry } from '../engines/recognise-speech.ts';
import { placeWords } from '../engines/sherpa-engine.ts';
import {
  chooseLanguage,
  SAMPLE_RATE,
  type SpeechEngine,
  toMs,
  type VoiceActivityDetector,
  type VoicedSegment,
} from '../engines/speech.ts';
import type { StoredSegment, Transcription, TranscriptionStores } from '../store.ts';
import type { SoundBox } from '../turns/sound-box.ts';
import { SpeakerAttribution, type SpokenSegment } from '../turns/speaker-attribution.ts';
import type { Turn, TurnStores } from '../turns/store.ts';

export type TranscribeDeps = Pick<ReadSoundDeps, 'soundBox'> & {
  readonly store: Pick<TranscriptionStores & TurnStores, 'transcriptions' | 'recordings' | 'turns'>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Log;
  readonly audio: RecordingAudio;
  readonly engine: SpeechEngine;
  /** Creates the detector of one recording. */
  readonly createDetector: (language: string) => VoiceActivityDetector;
};

/** A claimed job, as far as this worker holds its lease. */
type JobLease = {
  readonly job: Transcription;
  readonly owner: string;
  readonly leaseMs: number;
  readonly signal: AbortSignal;
};

/** The job was deleted or taken over by another worker: this one must stop and not write to it. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** How often new segments and the progress are stored. */
const STORE_EVERY_MS = 1000;

/**
 * Transcribes the recording from its beginning, replacing the segments of an earlier attempt, and stores segments as
 * they are recognised. Returns the length of the audio in milliseconds. Throws TranscriptionError or LeaseLost. Of a
 * damaged recording, everything readable is stored before the error is thrown.
 */
export async function transcribeRecording(deps: TranscribeDeps, lease: JobLease): Promise<number> {
  const { job, owner } = lease;
  if (!(await deps.store.transcriptions.clearSegments(job.id, owner))) throw new LeaseLost();
  const recording = await deps.store.recordings.find(job.recordingId ?? '');
  if (recording === undefined) {
    throw new TranscriptionError(
      'recording-not-found',
      'The recording was deleted before it was transcribed.',
    );
  }
  const turns = await readTurns(deps, recording.id, lease.signal);
  const detector = deps.createDetector(job.language);
  try {
    const isKept = await readKeptSounds(deps, recording.id);
    const attribution = new SpeakerAttribution(turns, job.originAt, isKept);
    const durationMs = await transcribeAudio(deps, lease, { recording, detector, attribution });
    const fields = { transcriptionId: job.id, turns: turns.length, offsetMs: attribution.offsetMs };
    deps.log.debug(fields, 'aligned the turns with the recording');
    return durationMs;
  } finally {
    detector.close();
  }
}

type Source = {
  readonly recording: Recording;
  readonly detector: VoiceActivityDetector;
  readonly attribution: SpeakerAttribution;
};

async function transcribeAudio(
  deps: TranscribeDeps,
  lease: JobLease,
  { recording, detector, attribution }: Source,
): Promise<number> {
  const writer = new RecordingWriter(deps, lease, recording.durationMs);
  const pipeline = new RecognitionPipeline(deps, lease, writer);
  let samples = 0;
  let damage: TranscriptionError | undefined;
  try {
    for await (const chunk of deps.audio.decode(recording, lease.signal)) {
      samples += chunk.samples.length;
      await pipeline.add(attribution.push(detector.push(chunk.samples)));
      await writer.advance(measureShare(chunk.share, toMs(samples), recording.durationMs));
    }
  } catch (error) {
    if (!(error instanceof TranscriptionError) || error.code !== 'recording-damaged') throw error;
    damage = error;
  }
  await pipeline.add(attribution.push(detector.flush()));
  await pipeline.add(attribution.flush());
  const maxSegmentSeconds = deps.engine.maxSegmentSecondsFor(lease.job.language);
  for await (const spoken of readOwnTurns(deps, {
    recordingId: recording.id,
    attribution,
    maxSegmentSeconds,
  })) {
    await pipeline.add(spoken);
  }
  await pipeline.finish();
  if (!writer.hasText && writer.inaudible !== undefined) throw noWords(deps.engine, writer.inaudible);
  await writer.store();
  if (damage !== undefined) throw damage;
  return toMs(samples);
}

/** Reading runs ahead of decoding, so the lower share counts. Only a completed transcription has progress 1. */
function measureShare(read: number, decodedMs: number, durationMs: number | null): number {
  const decoded = durationMs === null || durationMs === 0 ? 1 : decodedMs / durationMs;
  return Math.min(read, decoded, 0.99);
}

/** Requests to a speech server at once. A local engine uses all processors for a single segment. */
const REMOTE_RECOGNITIONS = 4;

type Voice = Omit<SpokenSegment, 'segment'>;

type RunningRecognition = {
  readonly recognition: Promise<readonly RecognisedSegment[]>;
  readonly voice: Voice;
};

/** Recognises segments, several at once where a server does the work, and adds them to the writer in their order. */
class RecognitionPipeline {
  readonly #deps: TranscribeDeps;
  readonly #lease: JobLease;
  readonly #writer: RecordingWriter;
  readonly #running: RunningRecognition[] = [];

  constructor(deps: TranscribeDeps, lease: JobLease, writer: RecordingWriter) {
    this.#deps = deps;
    this.#lease = lease;
    this.#writer = writer;
  }

  async add(spoken: readonly SpokenSegment[]): Promise<void> {
    const isRemote = this.#deps.engine.isRemoteFor(this.#lease.job.language);
    const atOnce = isRemote ? REMOTE_RECOGNITIONS : 1;
    for (const { segment, ...voice } of spoken) {
      this.#lease.signal.throwIfAborted();
      const recognition = recognise(this.#deps, this.#lease, segment);
      // The recognition is awaited later. An error before that must not count as unhandled.
      recognition.catch(() => undefined);
      this.#running.push({ recognition, voice });
      while (this.#running.length >= atOnce) await this.#finishFirst();
    }
  }

  async finish(): Promise<void> {
    while (this.#running.length > 0) await this.#finishFirst();
  }

  async #finishFirst(): Promise<void> {
    const first = this.#running.shift();
    if (first === undefined) return;
    for (const recognised of await first.recognition) this.#writer.add(recognised, first.voice);
  }
}

/** Shorter sounds, such as a cough or a slammed door, may have no words; longer speech has. */
const MIN_SPEECH_SAMPLES = SAMPLE_RATE;

/**
 * Recognises a segment. Recognisers return an empty text when they fail inside, so a segment without text is tried again in
 * halves. A segment that still has no text (music, a long laugh) becomes `[inaudible]`, as in captions, so that the
 * transcript shows that there was sound.
 */
async function recognise(
  deps: TranscribeDeps,
  lease: JobLease,
  segment: VoicedSegment,
): Promise<readonly RecognisedSegment[]> {
  const { log } = deps;
  const whole = await recogniseOnce(deps, lease, segment);
  if (whole.text !== '') return [whole];
  if (segment.samples.length < MIN_SPEECH_SAMPLES) {
    log.debug({ durationMs: toMs(segment.samples.length) }, 'a short sound has no text');
    return [];
  }
  const recognised: RecognisedSegment[] = [];
  for (const half of halve(segment)) recognised.push(await recogniseOnce(deps, lease, half));
  const halves = recognised.filter(({ text }) => text !== '');
  if (halves.length > 0) return halves;
  log.warn(
    { durationMs: toMs(segment.samples.length) },
    'the recogniser returned no text for speech, also in halves',
  );
  return [{ ...segment, text: INAUDIBLE, confidence: null }];
}

const INAUDIBLE = '[inaudible]';

/** The error for a recording with speech and without a single recognised word: the recogniser does not work. */
function noWords(engine: SpeechEngine, { start, samples }: VoicedSegment): TranscriptionError {
  const [from, to] = [toSeconds(start), toSeconds(start + samples.length)];
  return new TranscriptionError(
    'speech-not-recognised',
    `The recogniser ${engine.name} returned no text for any speech, for example from ${from} s to ${to} s.`,
  );
}

/** The pauses are long, because the next attempt starts the recording from its beginning. */
const RETRY = { pausesMs: [1_000, 5_000, 15_000], maxPauseMs: 60_000 } as const;

async function recogniseOnce(
  deps: TranscribeDeps,
  { job, signal }: JobLease,
  segment: VoicedSegment,
): Promise<RecognisedSegment> {
  const request = { samples: segment.samples, language: job.language };
  const recognition = await recogniseWithRetry(deps, request, { ...RETRY, signal });
  return { ...segment, ...recognition, text: recognition.text.trim() };
}

/** Collects segments and stores them once a second, with the progress. */
class RecordingWriter {
  readonly #deps: TranscribeDeps;
  readonly #lease: JobLease;
  readonly #durationMs: number | null;
  #unstored: StoredSegment[] = [];
  #share = 0;
  #storedAt: number;
  #hasText = false;
  #inaudible: VoicedSegment | undefined;

  constructor(deps: TranscribeDeps, lease: JobLease, durationMs: number | null) {
    this.#deps = deps;
    this.#lease = lease;
    this.#durationMs = durationMs;
    this.#storedAt = deps.clock.monotonic();
  }

  /** Whether any segment has text. */
  get hasText(): boolean {
    return this.#hasText;
  }

  /** First segment without text. */
  get inaudible(): VoicedSegment | undefined {
    return this.#inaudible;
  }

  add(recognised: RecognisedSegment, { speaker, overlapMs }: Voice): void {
    const { start, samples, text, confidence } = recognised;
    if (text === INAUDIBLE) this.#inaudible ??= { start, samples };
    else this.#hasText = true;
    const { originAt, language } = this.#lease.job;
    this.#unstored.push({
      id: `seg_${this.#deps.ids.next()}`,
      trackId: speaker?.trackId ?? null,
      identity: speaker?.identity ?? null,
      name: speaker?.name ?? null,
      text,
      language: chooseLanguage(recognised, language),
      startedAt: originAt + toMs(start),
      endedAt: originAt + toMs(start + samples.length),
      confidence,
      overlapMs,
      ...placeWords(recognised, originAt + toMs(start)),
    });
  }

  /** ffmpeg may read an index at the end of the file first, so the progress keeps its highest value. */
  async advance(share: number): Promise<void> {
    this.#share = Math.max(this.#share, share);
    if (this.#deps.clock.monotonic() - this.#storedAt >= STORE_EVERY_MS) await this.store();
  }

  async store(): Promise<void> {
    const { transcriptions } = this.#deps.store;
    const { job, owner, leaseMs } = this.#lease;
    this.#storedAt = this.#deps.clock.monotonic();
    const segments = this.#unstored.splice(0);
    const advance = {
      progress: this.#share,
      leaseUntil: this.#deps.clock.now() + leaseMs,
      ...(this.#durationMs === null ? {} : { durationMs: this.#durationMs }),
    };
    const isHeld =
      (segments.length === 0 || (await transcriptions.addSegments(job.id, owner, segments))) &&
      (await transcriptions.advancePost(job.id, owner, advance));
    if (!isHeld) throw new LeaseLost();
  }
}

function toSeconds(samples: number): string {
  return (samples / SAMPLE_RATE).toFixed(1);
}

type ReadTurnsDeps = { readonly store: Pick<TurnStores, 'turns'>; readonly clock: Clock };

const POLL_INTERVAL_MS = 250;

/**
 * Reads the turns of a recording that has ended. Waits while a worker still stores the last turns, at most until the end of
 * its lease if it has died. Rejects when the signal is aborted.
 */
export async function readTurns(
  { store, clock }: ReadTurnsDeps,
  recordingId: string,
  signal: AbortSignal,
): Promise<readonly Turn[]> {
  while (await store.turns.isListening(recordingId, clock.now())) {
    await clock.sleep(POLL_INTERVAL_MS, signal);
  }
  return await store.turns.listTurns(recordingId);
}

type ReadSoundDeps = {
  readonly store: Pick<TurnStores, 'turns'>;
  readonly soundBox: Pick<SoundBox, 'canOpen' | 'open'>;
  readonly log: Log;
};

type TurnKey = Pick<Turn, 'trackId' | 'startedAt'>;

/** Reads which turns have audio that is kept and can be decrypted. Returns a function that checks a turn. */
async function readKeptSounds(
  { store, soundBox, log }: ReadSoundDeps,
  recordingId: string,
): Promise<(turn: TurnKey) => boolean> {
  const kept = await store.turns.listSounds(recordingId);
  const openable = kept.filter(({ keyId }) => soundBox.canOpen(keyId));
  if (openable.length < kept.length) {
    const fields = { recordingId, sounds: kept.length - openable.length };
    log.warn(
      fields,
      'the sound of tracks was sealed with another key; give all workers the same ENCRYPTION_KEY',
    );
  }
  const keys = new Set(openable.map(toKey));
  return (turn) => keys.has(toKey(turn));
}

type OwnTurns = {
  readonly recordingId: string;
  readonly attribution: Pick<SpeakerAttribution, 'ownTurns'>;
  /** Longest input of the recogniser. */
  readonly maxSegmentSeconds: number;
};

/** Yields the turns in which people speak at the same time one after the other, each with the audio of its own track. */
async function* readOwnTurns(
  deps: ReadSoundDeps,
  { recordingId, attribution, maxSegmentSeconds }: OwnTurns,
): AsyncGenerator<readonly SpokenSegment[]> {
  for (const { turn, from, overlapMs } of attribution.ownTurns()) {
    const samples = await readSound(deps, recordingId, turn);
    if (samples === undefined) continue;
    const start = Math.round((from / 1000) * SAMPLE_RATE);
    const pieces = splitSegment({ start, samples }, maxSegmentSeconds * SAMPLE_RATE);
    yield pieces.map((segment) => ({ segment, speaker: turn, overlapMs }));
  }
}

/** Returns undefined when the audio was deleted since, or when it cannot be decrypted; only the second is logged. */
async function readSound(
  { store, soundBox, log }: ReadSoundDeps,
  recordingId: string,
  { trackId, startedAt }: TurnKey,
): Promise<Float32Array | undefined> {
  const place = { recordingId, trackId, startedAt };
  const parts = await store.turns.readSound(place);
  if (parts.length === 0) return undefined;
  try {
    return soundBox.open(parts, place);
  } catch (error) {
    log.error({ recordingId, trackId, err: error }, 'the sound of a turn cannot be opened');
    return undefined;
  }
}

function toKey({ trackId, startedAt }: TurnKey): string {
  return `${startedAt} ${trackId}`;
}
