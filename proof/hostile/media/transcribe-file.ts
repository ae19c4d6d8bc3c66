import { setTimeout as delay } from 'node:timers/promises';
import type { RecorderStage } from '../../support/recorder-stage.ts';
import type { Expected } from './files.ts';
import type { MediaStage } from './media.ts';

export type Outcome = {
  readonly status: string;
  /** The code of the error, if there is one. */
  readonly code: string | undefined;
  readonly words: string;
  readonly milliseconds: number;
};

const POLL_INTERVAL_MS = 20;
/** Longer than 48 hours of silence take. */
const DEADLINE_MS = 20 * 60_000;

/** Records a room, and returns the recording when it has its file. */
export async function recordOnce({ client, media }: RecorderStage): Promise<MediaStage['recording']> {
  const room = 'hostile-media';
  await client.call('POST', '/v1/rooms', { name: room });
  media.control.join(room, { identity: 'ada' });
  media.control.publish(room, 'ada');
  const { json } = await client.call('POST', `/v1/rooms/${room}/recording/start`);
  const id = String(json.egressId);
  await until(async () => (await client.call('GET', `/v1/recordings/${id}`)).json.mediaStartedAt !== null);
  await client.call('POST', `/v1/rooms/${room}/recording/stop`);
  let path: unknown;
  await until(async () => {
    const { json: recording } = await client.call('GET', `/v1/recordings/${id}`);
    path = Object(recording.file).path;
    return recording.endedAt !== null && typeof path === 'string';
  });
  return { id, path: String(path) };
}

/** Transcribes the recording, and deletes the transcription. */
export async function transcribeFile({ client, recording, hasEnded }: MediaStage): Promise<Outcome> {
  const startedAt = performance.now();
  const queued = await client.call('POST', `/v1/recordings/${recording.id}/transcribe`, { language: 'en' });
  const path = `/v1/transcriptions/${queued.json.transcriptionId}`;
  let found: Readonly<Record<string, unknown>> = {};
  await until(async () => {
    if (hasEnded()) throw new Error('the worker has ended');
    found = (await client.call('GET', path)).json;
    return found.status === 'completed' || found.status === 'failed';
  });
  const milliseconds = Math.round(performance.now() - startedAt);
  await client.call('DELETE', path);
  const segments: readonly { readonly text: string }[] = Array.isArray(found.segments) ? found.segments : [];
  const { code }: { readonly code?: string } = Object(found.error);
  const words = segments.map(({ text }) => text).join(' ');
  return { status: String(found.status), code, words, milliseconds };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('the recording or its transcription has not ended');
    await delay(POLL_INTERVAL_MS);
  }
}

/** Errors that describe a file. */
const CODES: readonly unknown[] = [
  'recording-damaged',
  'recording-empty',
  'recording-not-media',
  'recording-without-audio',
  'speech-not-recognised',
];
/** Share of the sentence's words that have to be there. */
const MIN_SHARE = 0.6;

/** Says what is wrong with an outcome; undefined if nothing is. */
export function verdictOf(
  expected: Expected,
  { status, code, words }: Outcome,
  { sentence, planted }: { readonly sentence: string; readonly planted: string },
): string | undefined {
  if (shareOf(planted, words) > 0.3) return `it has the planted words: ${words}`;
  if (expected === 'words') {
    const isHeard = status === 'completed' && shareOf(sentence, words) >= MIN_SHARE;
    return isHeard ? undefined : `${code ?? status} with the words: ${words}`;
  }
  if (expected !== 'any') return code === expected ? undefined : `${code ?? status} instead of ${expected}`;
  return status === 'completed' || CODES.includes(code) ? undefined : `${code}`;
}

/** Share of the long words of a sentence that a text has. */
function shareOf(sentence: string, text: string): number {
  const heard = new Set(wordsOf(text));
  const wanted = wordsOf(sentence).filter((word) => word.length > 4);
  return wanted.filter((word) => heard.has(word)).length / wanted.length;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}
