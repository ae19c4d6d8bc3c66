import type { SelfCheck } from '../../contract/self-check.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { MediaWorkers, UnknownWorkers, WorkerCount } from '../platform/livekit/count-media-workers.ts';
import { checkMediaClock, type MediaClock } from '../platform/livekit/media-clock.ts';
import type { RejectedWebhooks } from '../platform/livekit/media-event-reader.ts';
import type { KeyRotation, KeyRotationState } from '../platform/secrets/key-rotation.ts';
import type { RecordingStorage } from '../recordings/files/recording-files.ts';
import { recordingPath } from '../recordings/recording-path.ts';
import type { TranscriptionStores } from '../transcription/store.ts';

export type SelfCheckDeps = {
  readonly recordingStorage: RecordingStorage;
  readonly mediaWorkers: MediaWorkers;
  readonly rejectedWebhooks: Pick<RejectedWebhooks, 'check'>;
  readonly clock: Clock;
  readonly mediaClock: Pick<MediaClock, 'readDifference'>;
  readonly ids: IdGenerator;
  readonly recordings: { readonly pathTemplate: string };
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly keyRotation: Pick<KeyRotation, 'state'>;
  /** Warnings about secrets, one sentence each. */
  readonly secretWarnings: readonly string[];
  /** Variables that look like settings and are none, one sentence each. */
  readonly unknownSettings: readonly string[];
  /** Set in `rtc dev`, where a recorder and an ingress worker are optional. */
  readonly developmentMedia?: DevelopmentMedia | undefined;
};

/** The media server that `rtc dev` has started. */
export type DevelopmentMedia = 'livekit' | 'embedded';

/** Runs the checks for `rtc doctor` that only the service can make, because it has the keys. */
export async function checkSelf(deps: SelfCheckDeps): Promise<readonly SelfCheck[]> {
  const [storage, workers, models, keys] = await Promise.all([
    checkStorage(deps),
    checkMediaWorkers(deps),
    checkSpeechModels(deps),
    checkEncryptionKeys(deps),
  ]);
  const webhooks = deps.rejectedWebhooks.check();
  const clocks = checkMediaClock(deps.mediaClock, deps.clock.now());
  const settings = deps.unknownSettings.map(toSettingCheck);
  return [
    storage,
    ...workers,
    ...webhooks,
    ...clocks,
    ...keys,
    ...models,
    ...settings,
    ...deps.secretWarnings.map(toSecretCheck),
  ];
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

/** Reports a rotation of ENCRYPTION_KEY: what the instances have announced, and what this one cannot decrypt. */
async function checkEncryptionKeys({ keyRotation }: SelfCheckDeps): Promise<readonly SelfCheck[]> {
  // A database that does not respond is reported by the check of its own.
  const state = await keyRotation.state().catch(() => undefined);
  return state === undefined ? [] : [{ check: 'encryption keys', ...describeKeys(state) }];
}

function describeKeys(state: KeyRotationState): Omit<SelfCheck, 'check'> {
  const { instances, choice, ownIds, lost, older } = state;
  const lostCounts = Object.entries(lost).map(
    ([name, count]) => `${NOUNS_OF_SECRETS[name] ?? name}: ${count}`,
  );
  if (lostCounts.length > 0) {
    return {
      status: 'fault',
      detail: `stored secrets cannot be decrypted by this instance (${lostCounts.join(', ')})`,
      next: 'add the ENCRYPTION_KEY that they were stored with, after the current one, or give webhooks new secrets and programs new API keys',
    };
  }
  const all = instances.length === 1 ? '1 instance has' : `${instances.length} instances have`;
  if (!choice.isShared) {
    return {
      status: 'fault',
      detail: `no key of this instance is known to all ${instances.length} instances: each has secrets that others cannot decrypt`,
      next: 'give all instances the same ENCRYPTION_KEY, the new key first and the former one behind it',
    };
  }
  if (choice.keyId !== ownIds[0] || !choice.isAgreed) {
    const have = instances.filter(({ keyIds }) => keyIds[0] === ownIds[0]).length;
    return {
      status: 'warning',
      detail: `${have} of ${instances.length} instances have the first key of this one in front; secrets stay encrypted with a key that all have`,
      next: 'restart the others with the same ENCRYPTION_KEY',
    };
  }
  if (older > 0) {
    return {
      status: 'note',
      detail: `${all} the same keys; ${older} stored secrets are encrypted with the first one within minutes`,
      next: 'keep the others in ENCRYPTION_KEY until then',
    };
  }
  if (ownIds.length === 1) return { status: 'ok', detail: `${all} the key that encrypts`, next: '' };
  return {
    status: 'note',
    detail: `${all} the same keys, and every stored secret is encrypted with the first one`,
    next: 'take the others out of ENCRYPTION_KEY a day after they were replaced',
  };
}

const NOUNS_OF_SECRETS: Readonly<Record<string, string>> = { webhooks: 'webhooks', apiKeys: 'API keys' };

function toSettingCheck(warning: string): SelfCheck {
  const next = "correct or remove it in the service's environment, and restart it";
  return { check: 'unknown setting', status: 'warning', detail: warning, next };
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
    next: `run the image ${IMAGES[check]} on that Redis, with a key of its own among the media server's; rtc help recorder has the command`,
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
