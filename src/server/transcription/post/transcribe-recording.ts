import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Recording, RecordingStores } from '../../recordings/store.ts';
import { type RecordingAudio, SpeechFault } from '../audio/recording-audio.ts';
import { halvesOf, type Spoken } from '../engines/recognise-speech.ts';
import { recognisePatiently } from '../engines/recognise-with-retry.ts';
import {
  SAMPLE_RATE,
  type SpeechEngine,
  type VoiceActivityDetector,
  type VoicedSegment,
} from '../engines/speech.ts';
import type { StoredSegment, Transcription, TranscriptionStores } from '../store.ts';

export type TranscribeDeps = {
  readonly store: Pick<TranscriptionStores & RecordingStores, 'transcriptions' | 'recordings'>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Log;
  readonly audio: RecordingAudio;
  readonly engine: SpeechEngine;
  /** A detector of its own for each recording. */
  readonly createDetector: () => VoiceActivityDetector;
};

/** A job in hand. */
export type Hold = {
  readonly job: Transcription;
  readonly owner: string;
  readonly leaseMs: number;
  readonly signal: AbortSignal;
};

/** Another worker has the job, or it was deleted: whoever notices stops, and leaves it alone. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** How often what was heard is stored, with the progress. */
const STORE_EVERY_MS = 1000;

/**
 * Hears the recording from its beginning, whatever an earlier try has left, and stores what is said as it goes; answers
 * the length of the audio. Throws a SpeechFault, or LeaseLost. Of a damaged recording, what can be heard is
 * stored before the fault is thrown.
 */
export async function transcribeRecording(deps: TranscribeDeps, hold: Hold): Promise<number> {
  const { job, owner } = hold;
  if (!(await deps.store.transcriptions.clearSegments(job.id, owner))) throw new LeaseLost();
  const recording = await deps.store.recordings.find(job.recordingId ?? '');
  if (recording === undefined) {
    throw new SpeechFault('recording-not-found', 'The recording was deleted before it was transcribed.');
  }
  const detector = deps.createDetector();
  try {
    return await hear(deps, hold, { recording, detector });
  } finally {
    detector.close();
  }
}

type Source = { readonly recording: Recording; readonly detector: VoiceActivityDetector };

async function hear(deps: TranscribeDeps, hold: Hold, { recording, detector }: Source): Promise<number> {
  const notes = new Notes(deps, hold, recording.durationMs);
  let samples = 0;
  let damage: SpeechFault | undefined;
  try {
    for await (const chunk of deps.audio.decode(recording, hold.signal)) {
      samples += chunk.samples.length;
      await noteAll(deps, hold, notes, detector.push(chunk.samples));
      await notes.advance(shareOf(chunk.share, toMs(samples), recording.durationMs));
    }
  } catch (error) {
    if (!(error instanceof SpeechFault) || error.code !== 'recording-damaged') throw error;
    damage = error;
  }
  await noteAll(deps, hold, notes, detector.flush());
  if (!notes.haveWords && notes.inaudible !== undefined) throw noWords(deps.engine, notes.inaudible);
  await notes.store();
  if (damage !== undefined) throw damage;
  return toMs(samples);
}

/** What was read runs ahead of what was heard; 1 is only what is completed. */
function shareOf(read: number, heardMs: number, durationMs: number | null): number {
  const heard = durationMs === null || durationMs === 0 ? 1 : heardMs / durationMs;
  return Math.min(read, heard, 0.99);
}

async function noteAll(
  deps: TranscribeDeps,
  hold: Hold,
  notes: Notes,
  voiced: readonly VoicedSegment[],
): Promise<void> {
  for (const segment of voiced) {
    hold.signal.throwIfAborted();
    for (const spoken of await recognise(deps, hold, segment)) notes.add(spoken);
  }
}

/** A cough or a slammed door has no words; what is voiced for longer than this has. */
const WORDLESS_SAMPLES = SAMPLE_RATE;

/**
 * No text for speech is a fault: recognisers answer nothing where they fail inside. In halves it may do. What has no
 * text then (music, a long laugh) is said to be there, as captions say it: nothing that was heard is passed over.
 */
async function recognise(
  deps: TranscribeDeps,
  hold: Hold,
  segment: VoicedSegment,
): Promise<readonly Spoken[]> {
  const { log } = deps;
  const whole = await recogniseOnce(deps, hold, segment);
  if (whole.text !== '') return [whole];
  if (segment.samples.length < WORDLESS_SAMPLES) {
    log.debug({ durationMs: toMs(segment.samples.length) }, 'a sound without words');
    return [];
  }
  const spoken: Spoken[] = [];
  for (const half of halvesOf(segment)) spoken.push(await recogniseOnce(deps, hold, half));
  const halves = spoken.filter(({ text }) => text !== '');
  if (halves.length > 0) return halves;
  log.warn({ durationMs: toMs(segment.samples.length) }, 'something voiced has no text, also in halves');
  return [{ ...segment, text: INAUDIBLE, confidence: null }];
}

const INAUDIBLE = '[inaudible]';

/** Speech all through, and not one word of it: that is a recogniser that does not work. */
function noWords(engine: SpeechEngine, { start, samples }: VoicedSegment): SpeechFault {
  const [from, to] = [toSeconds(start), toSeconds(start + samples.length)];
  return new SpeechFault(
    'speech-not-recognised',
    `The recogniser ${engine.name} gave no text for any speech, such as that from ${from} s to ${to} s.`,
  );
}

/** Another try of the job begins the recording anew: a server that is busy for a moment is waited for. */
const PATIENCE = { pausesMs: [1_000, 5_000, 15_000], longestMs: 60_000 } as const;

async function recogniseOnce(
  deps: TranscribeDeps,
  { job, signal }: Hold,
  segment: VoicedSegment,
): Promise<Spoken> {
  const asked = { samples: segment.samples, language: job.language };
  const { text, confidence } = await recognisePatiently(deps, asked, { ...PATIENCE, signal });
  return { ...segment, text: text.trim(), confidence };
}

/** What was said and is not stored yet. */
class Notes {
  readonly #deps: TranscribeDeps;
  readonly #hold: Hold;
  readonly #durationMs: number | null;
  #unstored: StoredSegment[] = [];
  #share = 0;
  #storedAt: number;
  #haveWords = false;
  #inaudible: VoicedSegment | undefined;

  constructor(deps: TranscribeDeps, hold: Hold, durationMs: number | null) {
    this.#deps = deps;
    this.#hold = hold;
    this.#durationMs = durationMs;
    this.#storedAt = deps.clock.now();
  }

  /** Whether anything was recognised. */
  get haveWords(): boolean {
    return this.#haveWords;
  }

  /** The first segment without text. */
  get inaudible(): VoicedSegment | undefined {
    return this.#inaudible;
  }

  add({ start, samples, text, confidence }: Spoken): void {
    if (text === INAUDIBLE) this.#inaudible ??= { start, samples };
    else this.#haveWords = true;
    const { originAt, language } = this.#hold.job;
    this.#unstored.push({
      id: `seg_${this.#deps.ids.next()}`,
      trackId: null,
      identity: null,
      name: null,
      text,
      language,
      startedAt: originAt + toMs(start),
      endedAt: originAt + toMs(start + samples.length),
      confidence,
    });
  }

  /** An index at the end of a file is read first: progress never goes back. */
  async advance(share: number): Promise<void> {
    this.#share = Math.max(this.#share, share);
    if (this.#deps.clock.now() - this.#storedAt >= STORE_EVERY_MS) await this.store();
  }

  async store(): Promise<void> {
    const { transcriptions } = this.#deps.store;
    const { job, owner, leaseMs } = this.#hold;
    this.#storedAt = this.#deps.clock.now();
    const segments = this.#unstored.splice(0);
    const advance = {
      progress: this.#share,
      leaseUntil: this.#storedAt + leaseMs,
      ...(this.#durationMs === null ? {} : { durationMs: this.#durationMs }),
    };
    const isHeld =
      (segments.length === 0 || (await transcriptions.addSegments(job.id, owner, segments))) &&
      (await transcriptions.advancePost(job.id, owner, advance));
    if (!isHeld) throw new LeaseLost();
  }
}

function toMs(samples: number): number {
  return Math.round((samples / SAMPLE_RATE) * 1000);
}

function toSeconds(samples: number): string {
  return (samples / SAMPLE_RATE).toFixed(1);
}
