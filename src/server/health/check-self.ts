import type { SelfCheck } from '../../contract/self-check.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { MediaWorkers, UnknownWorkers, WorkerCount } from '../platform/livekit/count-media-workers.ts';
import type { RejectedWebhooks } from '../platform/livekit/media-event-reader.ts';
import type { RecordingStorage } from '../recordings/files/recording-files.ts';
import { recordingPath } from '../recordings/recording-path.ts';
import type { TranscriptionStores } from '../transcription/store.ts';

export type SelfCheckDeps = {
  readonly recordingStorage: RecordingStorage;
  readonly mediaWorkers: MediaWorkers;
  readonly rejectedWebhooks: Pick<RejectedWebhooks, 'check'>;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly recordings: { readonly pathTemplate: string };
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  /** Warnings about secrets, one sentence each. */
  readonly secretWarnings: readonly string[];
  /** Set in `rtc dev`, where a recorder and an ingress worker are optional. */
  readonly developmentMedia?: DevelopmentMedia | undefined;
};

/** The media server that `rtc dev` has started. */
export type DevelopmentMedia = 'livekit' | 'embedded';

/** Runs the checks for `rtc doctor` that only the service can make, because it has the keys. */
export async function checkSelf(deps: SelfCheckDeps): Promise<readonly SelfCheck[]> {
  const [storage, workers, models] = await Promise.all([
    checkStorage(deps),
    checkMediaWorkers(deps),
    checkSpeechModels(deps),
  ]);
  const webhooks = deps.rejectedWebhooks.check();
  return [storage, ...workers, ...webhooks, ...models, ...deps.secretWarnings.map(toSecretCheck)];
}

/** Reports the models that workers could not load. The health response reports the other states of workers. */
async function checkSpeechModels({ store, clock }: SelfCheckDeps): Promise<readonly SelfCheck[]> {
  const workers = await store.transcriptions.listAlive(clock.now()).catch(() => []);
  const faults = workers.flatMap(({ kind, failedModels }) =>
    failedModels.map(({ language, reason }) => `${kind} cannot transcribe ${language}: ${reason}`),
  );
  return [...new Set(faults)].map((detail) => ({
    check: 'speech model',
    status: 'fault',
    detail,
    next: 'correct STT_MODELS, or install another model: rtc stt models; then restart the worker',
  }));
}

function toSecretCheck(warning: string): SelfCheck {
  return {
    check: 'secrets',
    status: 'fault',
    detail: warning,
    next: 'set a longer secret, or a separate one',
  };
}

async function checkMediaWorkers({
  mediaWorkers,
  developmentMedia,
}: SelfCheckDeps): Promise<readonly SelfCheck[]> {
  if (developmentMedia === 'embedded') return EMBEDDED_WORKERS;
  const count = await mediaWorkers.count();
  const checks = [checkWorkers('recorder', count), checkWorkers('ingress worker', count)];
  return developmentMedia === undefined ? checks : checks.map(inDevelopment);
}

const EMBEDDED_WORKERS: readonly SelfCheck[] = [
  {
    check: 'recorder',
    status: 'ok',
    detail: 'the embedded media server of rtc dev records silence by itself',
    next: '',
  },
  {
    check: 'ingress worker',
    status: 'note',
    detail: 'the embedded media server of rtc dev takes no streams',
    next: '',
  },
];

/**
 * Adapts a check to `rtc dev`, which starts a recorder if it finds one, and no ingress worker. Without redis-server neither
 * of them could work.
 */
function inDevelopment(check: SelfCheck): SelfCheck {
  if (check.status === 'fault') {
    const why = check.check === 'recorder' ? 'rtc dev found none to start' : 'rtc dev starts none';
    return { ...check, status: 'note', detail: `none is connected: ${why}` };
  }
  if (check.status !== 'unknown') return check;
  const detail = 'none is connected: rtc dev found no redis-server on PATH for one';
  return { ...check, status: 'note', detail, next: 'install redis-server, then start rtc dev again' };
}

const NUMBER_OF = {
  recorder: (count: WorkerCount) => count.recorders,
  'ingress worker': (count: WorkerCount) => count.ingress,
} as const;
const IMAGES = { recorder: 'livekit/egress', 'ingress worker': 'livekit/ingress' } as const;

function checkWorkers(check: 'recorder' | 'ingress worker', count: WorkerCount): SelfCheck {
  const { unknown } = count;
  if (unknown !== undefined) {
    // A missing REDIS_URL is allowed; a wrong one is a mistake.
    const status = unknown.reason === 'not-told' ? 'unknown' : 'warning';
    return { check, status, detail: unknown.detail, next: NEXT_OF_UNKNOWN[unknown.reason] };
  }
  const number = NUMBER_OF[check](count) ?? 0;
  if (number > 0) return { check, status: 'ok', detail: `${number} connected`, next: '' };
  return {
    check,
    status: 'fault',
    detail: "none is connected to the media server's Redis",
    next: `run the image ${IMAGES[check]} on that Redis, with the media server's key; rtc help recorder has the command`,
  };
}

const NEXT_OF_UNKNOWN: Readonly<Record<UnknownWorkers['reason'], string>> = {
  'not-told': "set the service's REDIS_URL to the media server's Redis",
  unreachable: 'check REDIS_URL, and that the service reaches it',
  refused: 'check the password in REDIS_URL; its user needs the command PUBSUB',
  foreign: "set REDIS_URL to the redis.address of the media server's configuration",
};

/** Tests the path of a recording, because permissions may depend on it, with a .txt file instead of a video. */
async function checkStorage(deps: SelfCheckDeps): Promise<SelfCheck> {
  const { recordingStorage, clock, ids, recordings } = deps;
  const path = recordingPath(recordings.pathTemplate, `rtc-doctor-${ids.next()}`, clock.now());
  const result = await recordingStorage.check(path.replace(/\.mp4$/, '.txt'));
  return { check: recordingStorage.kind, ...result };
}
