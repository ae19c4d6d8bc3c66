import { ServiceError } from '../../contract/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { TranscriptionStores, WorkerKind } from './store.ts';

export type SpeechWorkerDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
};

/** For the health response. False when the database does not respond, since nothing can be transcribed then. */
export async function isWorkerAlive({ store, clock }: SpeechWorkerDeps, kind: WorkerKind): Promise<boolean> {
  try {
    return await store.transcriptions.isAlive(kind, clock.now());
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

const KIND_NAMES = { 'stt-live': 'Live', 'stt-post': 'Post-call' } as const;

/**
 * Throws addon-unavailable, which names the profile, when no worker of the kind is alive, and invalid-request, which
 * lists the available languages, when no living worker supports this one.
 */
export async function requireWorker(
  { store, clock }: SpeechWorkerDeps,
  kind: WorkerKind,
  language: string,
): Promise<void> {
  const now = clock.now();
  if (!(await store.transcriptions.isAlive(kind, now))) {
    throw new ServiceError(
      'addon-unavailable',
      `${KIND_NAMES[kind]} transcription is not running: start the profile ${kind}.`,
      { retryable: true },
    );
  }
  const languages = await store.transcriptions.languages(kind, now);
  if (languages.some((offered) => primaryOf(offered) === primaryOf(language))) return;
  const there = languages.length === 0 ? 'there is none at all' : `there are ${languages.join(', ')}`;
  const detail = `is ${JSON.stringify(language)}, for which no running ${kind} worker has a model; ${there}`;
  throw new ServiceError('invalid-request', `#/language ${detail}.`, {
    errors: [{ pointer: '#/language', detail }],
  });
}

/** Regions and scripts of a language share a model: `en` and `en-US` serve `en-GB`. */
function primaryOf(language: string): string | undefined {
  return language.toLowerCase().split('-')[0];
}

/** Writes a tag with the case that RFC 5646, section 2.1.1, recommends: `en-Latn-US`. */
export function formatLanguage(language: string): string {
  const [primary = '', ...rest] = language.toLowerCase().split('-');
  return [primary, ...rest.map(formatSubtag)].join('-');
}

function formatSubtag(subtag: string): string {
  if (subtag.length === 2) return subtag.toUpperCase();
  return /^[a-z]{4}$/.test(subtag) ? subtag.charAt(0).toUpperCase() + subtag.slice(1) : subtag;
}
