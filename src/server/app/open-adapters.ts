import { join } from 'node:path';
import type { DevelopmentMedia } from '../health/check-self.ts';
import { createMetrics, type Metrics, type StoreCall } from '../metrics/metrics.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import { createMediaWorkers, type MediaWorkers } from '../platform/livekit/count-media-workers.ts';
import { createLivekitMediaServer, type LivekitCall } from '../platform/livekit/livekit-media-server.ts';
import { askMediaDifference, MediaClock } from '../platform/livekit/media-clock.ts';
import type { MediaEventReader } from '../platform/livekit/media-event.ts';
import { createMediaEventReader, RejectedWebhooks } from '../platform/livekit/media-event-reader.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import { createTokenSigner, type TokenSigner } from '../platform/livekit/token-signer.ts';
import type { Log } from '../platform/log.ts';
import { createSecretBox, readEncryptionKey, type SecretBox } from '../platform/secrets/encryption-keys.ts';
import type { TracingDeps } from '../platform/tracing/open-telemetry.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import { createRecordingFiles } from '../recordings/files/create-recording-files.ts';
import { createRecordingStorage } from '../recordings/files/create-recording-storage.ts';
import { createFileUrls, deriveLinkKeys, type LinkKeys } from '../recordings/files/file-link.ts';
import type { RecordingFiles, RecordingStorage } from '../recordings/files/recording-files.ts';
import { type AddressGuard, createAddressGuard } from '../webhooks/sender/address-guard.ts';
import type { FileUrls, WebhookSender } from '../webhooks/sender/sender.ts';
import { createWebhookSender } from '../webhooks/sender/webhook-sender.ts';
import type { Config } from './config/config.ts';
import { isOnOtherMachine } from './config/warnings.ts';
import { openStore, type StoreOptions } from './create-store.ts';
import type { Closers } from './shutdown.ts';
import type { Store } from './store.ts';

export type ServiceParts = {
  readonly log: Log;
  readonly clock: Clock;
  /** Measures how long a batch of outcomes waits for more; real time by default. */
  readonly timer?: Pick<Clock, 'sleep'> | undefined;
  readonly ids: IdGenerator;
  /** Identifies this process in leases and in its log; a new id by default. */
  readonly instanceId?: string | undefined;
  /** The media server that `rtc dev` has started; undefined elsewhere. */
  readonly developmentMedia?: DevelopmentMedia | undefined;
  /** Whether the service may make a new encryption key when secrets are stored, but the key file is lost. */
  readonly isNewKeyAccepted?: boolean | undefined;
};

/** Every adapter of the service. `clock` is the store's clock. */
export type Adapters = ServiceParts & {
  readonly metrics: Metrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly store: Store;
  /** The clock of this machine. */
  readonly machineClock: Clock;
  readonly mediaClock: MediaClock;
  readonly mediaServer: MediaServer;
  readonly mediaWorkers: MediaWorkers;
  readonly mediaEventReader: MediaEventReader;
  readonly rejectedWebhooks: RejectedWebhooks;
  readonly tokenSigner: TokenSigner;
  readonly secretBox: SecretBox;
  readonly addressGuard: AddressGuard;
  /** Undefined when broadcasts may reach every address. */
  readonly broadcastGuard: AddressGuard | undefined;
  readonly sender: WebhookSender;
  readonly fileUrls: FileUrls;
  readonly recordingFiles: RecordingFiles;
  readonly recordingStorage: RecordingStorage;
  /** Keys that sign links to local recordings. */
  readonly linkKeys: LinkKeys;
};

export async function openAdapters(
  config: Config,
  parts: ServiceParts & {
    readonly version: string;
    readonly serviceUrl: () => string;
    readonly onStoreLost: (error: Error) => void;
  },
  closers: Closers,
): Promise<Adapters> {
  const { log, clock, version } = parts;
  const { apiKey, apiSecret } = config.livekit;
  const metrics = config.metrics === 'off' ? undefined : createMetrics({ version, clock });
  const tracing = await openTracing(config, parts);
  if (tracing !== undefined) closers.add(() => tracing.close());
  const observers = observeCalls(metrics, tracing);
  const store = await openStore({
    database: readDatabaseOptions(config),
    clock,
    askWitness: findWitness(config, clock),
    log,
    isMaintained: true,
    onLost: parts.onStoreLost,
    onCall: observers.onStoreCall,
  });
  closers.add(() => store.close());
  if (store.pool !== undefined) metrics?.watchPool(store.pool);
  const mediaClock = new MediaClock(clock);
  const mediaServer = createLivekitMediaServer({
    ...config.livekit,
    mediaClock,
    log,
    onCall: observers.onMediaCall,
  });
  closers.add(() => mediaServer.close());
  const addressGuard = createAddressGuard(config.webhookAllowedNetworks);
  const sender = createWebhookSender({
    guard: addressGuard,
    userAgent: `rtc-service/${version}`,
    proxyUrl: config.webhookProxyUrl,
  });
  closers.add(() => sender.close());
  const encryptionKeys = config.encryptionKeys ?? ([readEncryptionKey(config.dataDir, log)] as const);
  const secretBox = createSecretBox(encryptionKeys);
  const linkKeys = deriveLinkKeys(encryptionKeys, secretBox.currentIndex);
  const recordingFiles = createRecordingFiles({
    clock,
    storage: config.bucket,
    directory: config.recordingDir,
  });
  return {
    ...parts,
    clock: store.clock,
    machineClock: clock,
    mediaClock,
    metrics,
    tracing,
    store,
    mediaServer,
    mediaWorkers: createMediaWorkers(config.redisUrl, log),
    sender,
    mediaEventReader: createMediaEventReader(apiKey, apiSecret),
    rejectedWebhooks: new RejectedWebhooks({ log, clock, onRejected: metrics?.countRejectedWebhook }),
    tokenSigner: createTokenSigner(apiKey, apiSecret),
    secretBox,
    addressGuard,
    broadcastGuard: config.broadcastAllowedNetworks.includes('0.0.0.0/0')
      ? undefined
      : createAddressGuard(config.broadcastAllowedNetworks),
    recordingFiles,
    recordingStorage: createRecordingStorage({
      clock,
      bucket: config.bucket,
      directory: config.recordingDir,
    }),
    linkKeys,
    fileUrls: createFileUrls({ ...parts, clock: store.clock, store, recordingFiles, linkKeys }),
  };
}

export function readDatabaseOptions(config: Config): StoreOptions['database'] {
  if (config.databaseUrl !== undefined) {
    return { databaseUrl: config.databaseUrl, poolSize: config.values.DATABASE_POOL_SIZE };
  }
  return { sqlitePath: join(config.dataDir, 'rtc.sqlite') };
}

/** LiveKit tells the time when the clocks of this machine and of the database differ, unless it shares ours. */
export function findWitness({ livekit: { url } }: Config, clock: Clock): StoreOptions['askWitness'] {
  return isOnOtherMachine(url) ? () => askMediaDifference(url, clock) : undefined;
}

/** The SDK is loaded only for those who want traces. */
async function openTracing(
  { tracing }: Config,
  deps: Omit<TracingDeps, 'instanceId'> & { readonly instanceId?: string | undefined },
): Promise<Tracing | undefined> {
  if (tracing === undefined) return undefined;
  const { createTracing } = await import('../platform/tracing/open-telemetry.ts');
  return createTracing(tracing, { ...deps, instanceId: deps.instanceId ?? '' });
}

/** With traces both observers count and trace the calls. */
function observeCalls(metrics: Metrics | undefined, tracing: Tracing | undefined) {
  if (tracing === undefined) {
    return { onStoreCall: metrics?.observeStoreCall, onMediaCall: metrics?.observeMediaCall };
  }
  return {
    onStoreCall: (call: StoreCall): void => {
      metrics?.observeStoreCall(call);
      tracing.record({
        name: `${call.store}.${call.method}`,
        durationMs: call.durationMs,
        error: call.isSuccess ? undefined : 'the call failed',
        attributes: { 'db.collection.name': call.store, 'db.operation.name': call.method },
      });
    },
    onMediaCall: (call: LivekitCall): void => {
      metrics?.observeMediaCall(call);
      tracing.record({
        name: `livekit.${call.method}`,
        durationMs: call.durationMs,
        error: call.outcome === 'ok' ? undefined : call.outcome,
        attributes: { 'rpc.system.name': 'twirp', 'rpc.method': call.method },
      });
    },
  };
}
