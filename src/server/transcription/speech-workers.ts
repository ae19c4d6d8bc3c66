import { ServiceError } from '../../contract/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { refusedField } from '../platform/http/refusals.ts';
import { startLoop } from '../platform/jobs/loop.ts';
import type { Log } from '../platform/log.ts';
import { describeModel, suggestModel } from './models/catalogue.ts';
import type { FailedModel, SpeechWorker, TranscriptionStores, WorkerKind } from './store.ts';

export type SpeechWorkerDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
};

/** Languages of the workers of a kind, sorted and without duplicates. */
export function listLanguages(workers: readonly SpeechWorker[], kind: WorkerKind): readonly string[] {
  return unique(workers.filter((worker) => worker.kind === kind).flatMap(({ languages }) => languages));
}

/** Languages for which a worker of a kind has a model that does not work. */
export function listFailedLanguages(workers: readonly SpeechWorker[], kind: WorkerKind): readonly string[] {
  const failed = workers.filter((worker) => worker.kind === kind).flatMap(({ failedModels }) => failedModels);
  return unique(failed.map(({ language }) => language));
}

function unique(languages: readonly string[]): readonly string[] {
  return [...new Set(languages)].toSorted();
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
  const workers = await store.transcriptions.listAlive(clock.now());
  if (!workers.some((worker) => worker.kind === kind)) {
    throw new ServiceError(
      'addon-unavailable',
      `${KIND_NAMES[kind]} transcription is not running: start a ${kind} worker.`,
      { retryable: true },
    );
  }
  const languages = listLanguages(workers, kind);
  if (languages.some((offered) => primaryLanguage(offered) === primaryLanguage(language))) return;
  const there = languages.length === 0 ? 'there is none at all' : `there are ${languages.join(', ')}`;
  const missing = `is ${JSON.stringify(language)}, for which no running ${kind} worker has a model; ${there}`;
  const suggested = suggestModel(language);
  const detail =
    suggested === undefined
      ? missing
      : `${missing}; a model for it: rtc stt install ${describeModel(suggested)}`;
  throw refusedField('#/language', detail);
}

/** Regions and scripts of a language share a model: `en` and `en-US` serve `en-GB`. */
function primaryLanguage(language: string): string | undefined {
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

const EVERY_MS = 3_000;

/** A worker that missed two beats counts as dead. */
const ALIVE_MS = 10_000;

type HeartbeatDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly kind: WorkerKind;
  readonly workerId: string;
  readonly languages: () => readonly string[];
  readonly failedModels: () => readonly FailedModel[];
};

type Heartbeat = {
  /** Stores the current languages now. */
  readonly wake: () => void;
  /** Returns whether the last heartbeat was stored in time. */
  readonly isCurrent: () => boolean;
  readonly close: () => Promise<void>;
};

/** Stores regularly that the worker is alive, until it is closed. Rejects when the first beat cannot be stored. */
export async function startHeartbeat(deps: HeartbeatDeps): Promise<Heartbeat> {
  const { clock, log } = deps;
  await beat(deps);
  let beatAt = clock.monotonic();
  let isFirst = true;
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'storing the heartbeat failed; trying again',
    backoff: { firstMs: EVERY_MS, maxMs: EVERY_MS },
    round: async () => {
      if (!isFirst) {
        const startedAt = clock.monotonic();
        await beat(deps);
        beatAt = startedAt;
      }
      isFirst = false;
      return EVERY_MS;
    },
  });
  return {
    wake: loop.wake,
    isCurrent: () => clock.monotonic() - beatAt < ALIVE_MS,
    close: async () => {
      await loop.close();
      await deps.store.transcriptions.retire(deps.workerId);
    },
  };
}

async function beat({ store, clock, kind, workerId, languages, failedModels }: HeartbeatDeps): Promise<void> {
  await store.transcriptions.beat({
    kind,
    workerId,
    aliveUntil: clock.now() + ALIVE_MS,
    languages: languages(),
    failedModels: failedModels(),
  });
}
