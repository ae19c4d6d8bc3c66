import { join } from 'node:path';
import { createLivekitMediaServer } from './adapters/livekit/livekit-media-server.ts';
import { createMediaEventReader } from './adapters/livekit/media-event-reader.ts';
import { createTokenSigner } from './adapters/livekit/token-signer.ts';
import { createMediaWorkers } from './adapters/media-redis/media-workers.ts';
import { createRecordingFiles } from './adapters/recordings/recording-files.ts';
import { createRecordingStorage } from './adapters/recordings/recording-storage.ts';
import { openStore } from './adapters/storage/open-store.ts';
import { readEncryptionKey } from './adapters/system/encryption-keys.ts';
import { createMetrics, type Metrics } from './adapters/system/metrics.ts';
import { createSecretBox } from './adapters/system/secret-box.ts';
import { createAddressGuard } from './adapters/webhooks/address-guard.ts';
import { createWebhookSender } from './adapters/webhooks/webhook-sender.ts';
import type { Closers } from './closers.ts';
import type { Config } from './config/config.ts';
import { deriveLinkKeys } from './domain/file-link.ts';
import { createFileUrls } from './domain/file-urls.ts';
import type { Clock, IdGenerator } from './ports/clock.ts';
import type { Log } from './ports/log.ts';
import type { MediaEventReader } from './ports/media-event.ts';
import type { MediaServer } from './ports/media-server.ts';
import type { MediaWorkers } from './ports/media-workers.ts';
import type { RecordingFiles } from './ports/recording-files.ts';
import type { RecordingStorage } from './ports/recording-storage.ts';
import type { Store } from './ports/store.ts';
import type { TokenSigner } from './ports/token-signer.ts';
import type { FileUrls, SecretBox, WebhookSender } from './ports/webhook-sender.ts';

export type ServiceParts = { readonly log: Log; readonly clock: Clock; readonly ids: IdGenerator };

/** Every port of the service, with what stands behind it. */
export type Adapters = ServiceParts & {
  readonly metrics: Metrics | undefined;
  readonly store: Store;
  readonly mediaServer: MediaServer;
  readonly mediaWorkers: MediaWorkers;
  readonly mediaEventReader: MediaEventReader;
  readonly tokenSigner: TokenSigner;
  readonly secretBox: SecretBox;
  readonly sender: WebhookSender;
  readonly fileUrls: FileUrls;
  readonly recordingFiles: RecordingFiles;
  readonly recordingStorage: RecordingStorage;
  /** Sign links to local recordings. */
  readonly linkKeys: readonly [Buffer, ...Buffer[]];
};

export async function openAdapters(
  config: Config,
  parts: ServiceParts & { readonly version: string; readonly serviceUrl: () => string },
  closers: Closers,
): Promise<Adapters> {
  const { log, clock, version } = parts;
  const { apiKey, apiSecret } = config.livekit;
  const metrics = config.metrics === 'off' ? undefined : createMetrics();
  const store = await openStore({ database: databaseOf(config), clock, log });
  closers.add(() => store.close());
  const mediaServer = createLivekitMediaServer({
    ...config.livekit,
    log,
    ...(metrics === undefined ? {} : { onCall: metrics.observeMediaCall }),
  });
  closers.add(() => mediaServer.close());
  const guard = createAddressGuard(config.webhookAllowedNetworks);
  const sender = createWebhookSender({ guard, userAgent: `rtc-service/${version}` });
  closers.add(() => sender.close());
  const encryptionKeys = config.encryptionKeys ?? ([readEncryptionKey(config.dataDir, log)] as const);
  const linkKeys = deriveLinkKeys(encryptionKeys);
  const recordingFiles = createRecordingFiles({
    clock,
    storage: config.bucket,
    directory: config.recordingDir,
  });
  return {
    ...parts,
    metrics,
    store,
    mediaServer,
    mediaWorkers: createMediaWorkers(config.redisUrl, log),
    sender,
    mediaEventReader: createMediaEventReader(apiKey, apiSecret),
    tokenSigner: createTokenSigner(apiKey, apiSecret),
    secretBox: createSecretBox(encryptionKeys),
    recordingFiles,
    recordingStorage: createRecordingStorage({
      clock,
      bucket: config.bucket,
      directory: config.recordingDir,
    }),
    linkKeys,
    fileUrls: createFileUrls({ ...parts, store, recordingFiles, linkKeys }),
  };
}

export function databaseOf(
  config: Config,
): { readonly databaseUrl: string } | { readonly sqlitePath: string } {
  if (config.databaseUrl !== undefined) return { databaseUrl: config.databaseUrl };
  return { sqlitePath: join(config.dataDir, 'rtc.sqlite') };
}
