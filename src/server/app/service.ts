import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hasCode } from '../../contract/errors.ts';
import { HintedError } from '../../contract/hint.ts';
import type { Room } from '../../contract/rooms.ts';
import { AuditWriter } from '../access/audit/audit-writer.ts';
import { openKeyRing } from '../access/keys/key-ring.ts';
import { createRunOnce } from '../access/run-once.ts';
import { learnMetadata } from '../events/event-payload.ts';
import { startFanOut } from '../events/fan-out.ts';
import type { PresenceStore } from '../events/store.ts';
import { createIngest } from '../media-events/media-event-routes.ts';
import { startReconciler } from '../media-events/reconciler.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { serveMetrics } from '../metrics/metrics-routes.ts';
import { type KeepTimesDeps, keepTimes } from '../plans/keep-times.ts';
import { startPlanned } from '../plans/starts.ts';
import { withTimeout } from '../platform/clock.ts';
import { startKeyRotation } from '../platform/secrets/key-rotation.ts';
import { startRecorderWatch } from '../recordings/reconcile-recordings.ts';
import { storeToldChange, type ToldChange } from '../recordings/recording-events.ts';
import { removeUnusedFolder } from '../recordings/recordings.ts';
import { endRunning, listRunning } from '../recordings/room-recording-routes.ts';
import type { Recording } from '../recordings/store.ts';
import { type FindBlock, openBlockCache } from '../rooms/blocks/blocks.ts';
import { createRecentCounts, createSharedRooms, type SharedRooms } from '../rooms/list-rooms.ts';
import { createFindPlan, type FindNamedPlan, type FindPlan, openPlanCache } from '../rooms/plans/plans.ts';
import { type FindRoomRecord, markClosing, openRecordCache } from '../rooms/room-records.ts';
import { type DeleteRoomDeps, deleteMarkedRoom } from '../rooms/rooms.ts';
import { startUsageSettler } from '../usage/settle-usage.ts';
import { startDeliveryDispatcher } from '../webhooks/dispatcher/delivery-dispatcher.ts';
import { buildApp, requestCloser } from './app.ts';
import { type Config, serviceUrl } from './config/config.ts';
import { isLoopback, secretWarnings } from './config/warnings.ts';
import { type Adapters, openAdapters, type ServiceParts } from './open-adapters.ts';
import { findPackageRoot, packageVersion } from './package-root.ts';
import { DAY_MS, startPurges } from './purges.ts';
import { createKeyLimits, createRoomsOfKey } from './rooms-of-key.ts';
import { serviceRoutes } from './routes.ts';
import { Closers, createBackground, createFailure } from './shutdown.ts';
import { prepareKeyOfSecrets, SEALED_SECRETS } from './stored-key.ts';

export type RunningService = {
  /** The address on which the service listens, with BASE_PATH, such as http://127.0.0.1:3000. */
  readonly url: string;
  /** Resolves when the service cannot continue, because its database is gone. Call `close` then. */
  readonly failed: Promise<Error>;
  /** Waits SHUTDOWN_DELAY, finishes running requests, then closes everything in reverse order within 10 s. */
  readonly close: () => Promise<void>;
};

/** Opens the adapters, starts background work and listens. If a step fails, everything that was opened is closed. */
export async function startService(config: Config, parts: ServiceParts): Promise<RunningService> {
  const closers = new Closers(parts.log);
  const shutdown = new AbortController();
  const failure = createFailure(parts.log);
  const close = async (): Promise<void> => {
    const isFirst = !shutdown.signal.aborted;
    shutdown.abort();
    const delayMs = failure.isReported() ? 0 : config.values.SHUTDOWN_DELAY * 1000;
    if (isFirst && delayMs > 0) await parts.clock.sleep(delayMs);
    await closers.close();
  };
  try {
    const url = await start(
      config,
      { ...parts, shutdown: shutdown.signal, onStoreLost: failure.report },
      closers,
    );
    return { url, failed: failure.reported, close };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

type StartParts = ServiceParts & {
  readonly shutdown: AbortSignal;
  readonly onStoreLost: (error: Error) => void;
};

async function start(config: Config, { shutdown, ...parts }: StartParts, closers: Closers): Promise<string> {
  const root = findPackageRoot(import.meta.dirname);
  const version = packageVersion(root);
  let listeningPort = config.port;
  const ownUrl = (): string => serviceUrl(config, listeningPort);
  await prepareKeyOfSecrets(config, parts);
  const instanceId = parts.instanceId ?? parts.ids.next();
  const opened = await openAdapters(config, { ...parts, version, serviceUrl: ownUrl }, closers);
  const adapters = { ...opened, instanceId };
  // Before the first secret is read or stored, so that no other instance re-encrypts it without knowing of this one.
  const keyRotation = await startKeyRotation({ ...adapters, version, sources: SEALED_SECRETS });
  closers.add(() => keyRotation.close());
  const { metrics } = adapters;
  if (metrics !== undefined) watchForMetrics(config, adapters, metrics);
  if (metrics !== undefined && typeof config.metrics === 'object') {
    closers.add(await serveMetrics(metrics, config.metrics));
  }
  const recordCache = openRecordCache(adapters);
  const blockCache = openBlockCache(adapters);
  const { findNamed: findNamedPlan, close: closePlans } = openPlanCache(adapters);
  const findPlan = createFindPlan(findNamedPlan, recordCache.find);
  const found = { findBlock: blockCache.find, findRoomRecord: recordCache.find, findPlan, findNamedPlan };
  const work = startWork(config, { ...adapters, ...found }, closers);
  const keyRing = openKeyRing(adapters);
  closers.add(keyRing.close);
  const recordings = { ...recordingSettings(config), webhookUrl: () => `${ownUrl()}/livekit/webhook` };
  const app = await buildApp({
    routes: serviceRoutes({
      ...adapters,
      ...work,
      ...readSettings(config),
      keyRotation,
      version,
      shutdown,
      randomBytes,
      ...found,
      keyRing,
      keyLimits: createKeyLimits(config, { ...adapters, ...work }),
      recordings,
      metrics: config.metrics === 'signed' ? metrics : undefined,
      basePath: config.basePath,
      reference: { version, basePath: config.basePath, folder: join(root, 'dist', 'reference') },
    }),
    basePath: config.basePath,
    authentication: {
      clock: parts.clock,
      apiKey: config.apiKey,
      apiSecrets: config.apiSecrets,
      acceptsSingleHeader: config.acceptsSingleHeader,
      findKey: keyRing.find,
      noteUse: keyRing.noteUse,
    },
    log: parts.log,
    tracing: adapters.tracing,
    runOnce: createRunOnce({ ...adapters, apiKey: config.apiKey }),
    ensureOfRooms: createRoomsOfKey(adapters),
    requestRecorder: { clock: adapters.clock, writer: work.auditWriter },
    rateLimits: { api: config.values.RATE_LIMIT_API, public: config.values.RATE_LIMIT_PUBLIC },
    bodyLimitBytes: config.values.BODY_LIMIT,
    trustProxy: config.trustProxy,
    shutdown,
    onResponse: metrics?.observeRequest,
    rejectedWebhooks: adapters.rejectedWebhooks,
  });
  closers.add(requestCloser(app));
  closers.add(async () => {
    work.stopWaiting();
    blockCache.close();
    recordCache.close();
    closePlans();
  });
  const url = await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    throw listenError(error, config);
  });
  listeningPort = Number(new URL(url).port);
  // The media server reports recordings to this address.
  closers.add(startPlanned({ ...adapters, ...work, ...found, recordings }).close);
  return url + config.basePath;
}

/** Sets the counts that a scrape of the metrics reads and the dependencies that it tries. */
function watchForMetrics(config: Config, adapters: Adapters, metrics: Metrics): void {
  const { store, mediaServer, mediaWorkers, clock } = adapters;
  metrics.watchFigures(store);
  metrics.watchDependencies({
    clock,
    mediaServer,
    mediaWorkers,
    leases: store.leases,
    folders: {
      data: config.dataDir,
      ...(config.bucket === undefined ? { recordings: config.recordingDir } : {}),
    },
  });
}

type WorkDeps = Adapters & {
  readonly instanceId: string;
  readonly findBlock: FindBlock;
  readonly findRoomRecord: FindRoomRecord;
  readonly findPlan: FindPlan;
  readonly findNamedPlan: FindNamedPlan;
};

/** Starts background work: deliveries, reconciliation with the media server, purges. */
function startWork(config: Config, adapters: WorkDeps, closers: Closers) {
  const { log, store, metrics } = adapters;
  const background = createBackground((error) => log.error({ err: error }, 'background work failed'));
  closers.add(() => background.settled());
  const dispatcher = startDeliveryDispatcher({
    ...adapters,
    changes: store.changes,
    deliveries: store.deliveries,
    webhooks: store.webhooks,
    onAttempt: metrics?.observeAttempt,
    onTakeover: (count) => metrics?.countTakeovers({ kind: 'delivery', count }),
  });
  closers.add(() => dispatcher.close());
  const usageSettler = startUsageSettler(adapters);
  closers.add(() => usageSettler.close());
  const appendDeps = {
    ...adapters,
    mediaUrl: config.livekit.publicUrl,
    dispatcher,
    onStored: usageSettler.observing(metrics?.observeEvents),
    onUntold: metrics?.countUntoldEvent,
  };
  const fanOut = startFanOut({ ...appendDeps, changes: store.changes });
  closers.add(() => fanOut.close());
  const storeTold = (change: ToldChange): Promise<Recording | undefined> =>
    storeToldChange(appendDeps, change);
  const releaseFolder = (recording: Recording): void =>
    background.add(removeUnusedFolder(adapters, recording));
  const sharedRooms = createSharedRooms(adapters.clock);
  const recentCounts = createRecentCounts(adapters.clock, sharedRooms.outdate);
  const recorderWatch = startRecorderWatch({ ...adapters, storeTold, releaseFolder });
  closers.add(() => recorderWatch.close());
  const recordDeps = { ...appendDeps, recorderWatch, releaseFolder };
  const ingest = createIngest({
    ...recordDeps,
    recentCounts,
    background: background.add,
    onBlockedJoin: metrics?.countBlockedJoin,
    onRefused: () => {
      metrics?.countRefusedEvent();
      reconciler.compareAll();
    },
  });
  metrics?.watchRefusedEvents(ingest.refusedSince);
  const reconciler = startReconciler({
    ...recordDeps,
    storeTold,
    onTakeover: () => metrics?.countTakeovers({ kind: 'reconciler', count: 1 }),
    onCompared: ingest.clearRefusedBefore,
  });
  closers.add(() => reconciler.close());
  closers.add(keepTimes({ ...appendDeps, ...closingRooms({ ...adapters, storeTold, sharedRooms }) }).close);
  const auditWriter = new AuditWriter({
    ...adapters,
    onLost: metrics?.countLostAuditEntries,
    onUnkept: metrics?.countUnkeptAuditEntry,
  });
  closers.add(() => auditWriter.close());
  const purge = startPurges(config, { ...adapters, storeTold, releaseFolder });
  closers.add(() => purge.close());
  metrics?.watchMediaClock(() => adapters.mediaClock.readDifference(adapters.clock.now()));
  const closing = new AbortController();
  return {
    auditWriter,
    dispatcher,
    usageSettler,
    recentCounts,
    sharedRooms,
    storeTold,
    releaseFolder,
    background: background.add,
    ingest: ingest.ingest,
    eventsRefusedSince: ingest.refusedSince,
    purgeRefusal: purge.refusal,
    findDeparted: createFindDeparted(store.presence),
    onMetadata: noteMetadata(adapters),
    closing: closing.signal,
    stopWaiting: () => closing.abort(),
  };
}

type ClosingDeps = Omit<DeleteRoomDeps, 'endHelpersOfRoom'> &
  Parameters<typeof endRunning>[0] & { readonly sharedRooms: Pick<SharedRooms, 'forget'> };

/** A room is closed in time although its recorder does not respond: the stop goes on meanwhile. */
const RECORDER_PATIENCE_MS = 500;

/** Plans close rooms as DELETE /v1/rooms/:roomId does, and read and write for many at once. */
function closingRooms({ sharedRooms, ...deps }: ClosingDeps): Pick<KeepTimesDeps, 'prepareClosing'> {
  return {
    prepareClosing: async (open) => {
      await markClosing(deps, open);
      const running = await listRunning(
        deps,
        open.map(({ name }) => name),
      );
      const endHelpersOfRoom = (name: string) => {
        const own = running.filter(({ room }) => room === name);
        return withTimeout(endRunning(deps, own), RECORDER_PATIENCE_MS, undefined);
      };
      return (name) =>
        deleteMarkedRoom({ ...deps, endHelpersOfRoom }, name).finally(() => sharedRooms.forget());
    },
  };
}

/** Notes the changed metadata of a room. A failure is only logged, because the room's next event has the metadata too. */
function noteMetadata({ store, clock, log }: Adapters): (room: Room) => Promise<void> {
  return async ({ sid, metadata }) => {
    const known = learnMetadata(null, metadata, clock.now());
    await store.presence
      .saveMetadata(sid, known)
      .catch((err: unknown) => log.warn({ err }, 'metadata of a room could not be noted'));
  };
}

function readSettings(config: Config) {
  return {
    tokenTtlSeconds: config.tokenTtlSeconds,
    maxTokenTtlSeconds: config.maxTokenTtlSeconds,
    mediaUrl: config.livekit.publicUrl,
    maxWebhooks: config.values.MAX_WEBHOOKS,
    auditRetentionMs: config.values.AUDIT_RETENTION * DAY_MS,
    isFiscalApiOn: config.values.FISCAL_API,
    unknownSettings: config.unknownSettings,
    secretWarnings: isLoopback(config.host) ? [] : secretWarnings(config),
  };
}

function recordingSettings(config: Config) {
  return {
    bucket: config.values.RECORDER_OWN_KEYS ? withoutKeys(config.bucket) : config.bucket,
    directory: config.recordingDir,
    pathTemplate: config.recordingPath,
    timeoutMs: config.values.RECORDER_PATIENCE * 1000,
  };
}

/** A recorder without keys finds its own, as this service does without S3_ACCESS_KEY. */
function withoutKeys(bucket: Config['bucket']): Config['bucket'] {
  return bucket && { ...bucket, accessKey: undefined, secretKey: undefined, sessionToken: undefined };
}

function listenError(error: unknown, { host, port }: Config): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const listed = LISTEN_ERRORS[code];
  if (listed === undefined) return error;
  const { reason, hint } = listed;
  return new HintedError(`Cannot listen on ${host}:${port}: ${reason}`, { text: hint }, { cause: error });
}

const LISTEN_ERRORS: Readonly<Record<string, { readonly reason: string; readonly hint: string }>> = {
  EADDRINUSE: {
    reason: 'another process does',
    hint: 'stop it, or choose another PORT (0 picks a free one)',
  },
  EADDRNOTAVAIL: { reason: 'this machine has no such address', hint: 'correct HOST' },
  ENOTFOUND: { reason: 'the name is not known', hint: 'correct HOST' },
  EACCES: { reason: 'that is not allowed', hint: 'choose a PORT above 1023' },
};

/** Time limit: participants can be listed without the database. */
const TIMEOUT_MS = 200;

/**
 * Returns a function that finds out which participants have left, by their sids. A media server continues to list the
 * participants of a dead process. While the database is slow or does not respond, this service lists them too.
 */
function createFindDeparted(
  presence: Pick<PresenceStore, 'findParticipants'>,
): (sids: readonly string[]) => Promise<ReadonlySet<string>> {
  return async (sids) => {
    if (sids.length === 0) return new Set();
    const found = presence.findParticipants(sids).catch((error: unknown) => {
      if (hasCode(error, 'storage-unavailable')) return [];
      throw error;
    });
    const known = await withTimeout(found, TIMEOUT_MS, []);
    return new Set(known.filter(({ leftAt }) => leftAt !== null).map(({ sid }) => sid));
  };
}
