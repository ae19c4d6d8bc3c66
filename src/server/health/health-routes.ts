import { ServiceError } from '../../contract/errors.ts';
import {
  type Health,
  HealthSchema,
  type PurgeRefusalReason,
  type Readiness,
  ReadinessSchema,
  SelfCheckListSchema,
} from '../../contract/self-check.ts';
import { type Clock, withTimeout } from '../platform/clock.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { type MediaServer, NO_ROOM } from '../platform/livekit/media-server.ts';
import type { LeaseStore } from '../platform/storage/leases.ts';
import { listFailedLanguages, listLanguages } from '../transcription/speech-workers.ts';
import type { SpeechWorker, TranscriptionStores, WorkerKind } from '../transcription/store.ts';
import { checkSelf, type SelfCheckDeps } from './check-self.ts';

export type HealthDeps = ReadinessDeps &
  WorkerStatusDeps & {
    readonly version: string;
    /** True after the signal to shut down, while the service still serves requests. */
    readonly shutdown: Pick<AbortSignal, 'aborted'>;
    /** Since when events of the media server have been rejected (Unix milliseconds). */
    readonly eventsRefusedSince: () => number | undefined;
    /** Since when and why nothing is deleted because the clock may be wrong. */
    readonly purgeRefusal: () => { readonly since: number; readonly reason: PurgeRefusalReason } | undefined;
  };

export function healthRoutes(deps: HealthDeps): readonly Route[] {
  const checkReadiness = createReadinessCheck(deps);
  const readWorkerStatus = createWorkerStatus(deps);
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/health',
      operationId: 'getHealth',
      tag: 'service',
      summary: 'Show that the service runs, and what it can do',
      description: 'Needs no signature. The capabilities are those of the running transcription workers.',
      security: 'public',
      success: { 200: { description: 'The service runs', schema: HealthSchema } },
      errors: [],
      handle: async () => ({
        status: 200,
        body: { status: 'ok', version: deps.version, capabilities: await readWorkerStatus() },
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/ready',
      operationId: 'getReadiness',
      tag: 'service',
      summary: 'Check what the service needs: the media server and the database',
      description: 'For load balancers. Needs no signature. An instance that is shutting down is not ready.',
      security: 'public',
      success: {
        200: { description: 'Everything that the service needs responds', schema: ReadinessSchema },
        503: {
          description: 'A dependency does not respond; `checks` names it',
          schema: ReadinessSchema,
          example: { ready: false, checks: { mediaServer: false, database: true } },
        },
      },
      errors: [],
      handle: async () => {
        const readiness = describeReadiness(deps, await checkReadiness());
        return { status: readiness.ready ? 200 : 503, body: readiness };
      },
    }),
  ];
}

/** Adds what is refused to the result of the checks. An instance that is shutting down is not ready. */
function describeReadiness(
  deps: HealthDeps,
  { ready, checks }: Pick<Readiness, 'ready' | 'checks'>,
): Readiness {
  const toInstant = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  const eventsRefusedSince = toInstant(deps.eventsRefusedSince());
  const refusal = deps.purgeRefusal();
  return {
    ready: ready && !deps.shutdown.aborted,
    checks,
    ...(eventsRefusedSince === undefined ? {} : { eventsRefusedSince }),
    ...(refusal !== undefined && {
      purgeRefusedSince: new Date(refusal.since).toISOString(),
      purgeRefusedBecause: refusal.reason,
    }),
  };
}

export function selfCheckRoutes(deps: SelfCheckDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/self-check',
      operationId: 'checkSelf',
      tag: 'service',
      summary: 'Check the systems behind the service, as rtc doctor does',
      description:
        'Writes a small file where recordings go, reads it back, fetches it by its pre-signed URL and deletes it. A fault is a result, not an error.',
      scopes: ['admin'],
      success: { 200: { description: 'What was found', schema: SelfCheckListSchema } },
      errors: [],
      handle: async () => ({ status: 200, body: { checks: [...(await checkSelf(deps))] } }),
    }),
  ];
}

type ReadinessDeps = {
  readonly mediaServer: MediaServer;
  readonly store: { readonly leases: Pick<LeaseStore, 'acquire'> };
  readonly clock: Clock;
};

/**
 * Maximum age of a result. Readiness is public, so that its calls of the media server and its writes must not depend on the
 * number of requests.
 */
const MAX_AGE_MS = 1000;
/** Time limit of a check. Load balancers expect a response within a second. */
const READINESS_TIMEOUT_MS = 900;
const LEASE = 'readiness';

/** Returns a function that checks the media server and the database, at most once per second. */
export function createReadinessCheck(deps: ReadinessDeps): () => Promise<Readiness> {
  let latest: { readonly at: number; readonly readiness: Promise<Readiness> } | undefined;
  return () => {
    const now = deps.clock.monotonic();
    if (latest === undefined || now - latest.at >= MAX_AGE_MS) {
      latest = { at: now, readiness: checkReadiness(deps) };
    }
    return latest.readiness;
  };
}

async function checkReadiness({ mediaServer, store, clock }: ReadinessDeps): Promise<Readiness> {
  const now = clock.now();
  const [isMediaServerReady, isDatabaseReady] = await Promise.all([
    succeeds(mediaServer.listRooms([NO_ROOM])),
    // Checks a write, because a full or read-only disk can still be read.
    succeeds(store.leases.acquire({ name: LEASE, owner: LEASE, until: now }, now)),
  ]);
  return {
    ready: isMediaServerReady && isDatabaseReady,
    checks: { mediaServer: isMediaServerReady, database: isDatabaseReady },
  };
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  const success = work.then(
    () => true,
    () => false,
  );
  return await withTimeout(success, READINESS_TIMEOUT_MS, false);
}

type WorkerStatusDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
};

type WorkerStatus = Health['capabilities'];

/** The health response does not wait longer for the database. */
const STATUS_TIMEOUT_MS = 200;

/**
 * Returns a function that reads which workers are alive. While the database is slow or frozen it resolves to the last
 * known status, and starts no further query.
 */
export function createWorkerStatus(deps: WorkerStatusDeps): () => Promise<WorkerStatus> {
  let known = toWorkerStatus([]);
  let reading: Promise<WorkerStatus> | undefined;
  return async () => {
    reading ??= readStatus(deps).finally(() => {
      reading = undefined;
    });
    known = await withTimeout(reading, STATUS_TIMEOUT_MS, known);
    return known;
  };
}

async function readStatus({ store, clock }: WorkerStatusDeps): Promise<WorkerStatus> {
  try {
    return toWorkerStatus(await store.transcriptions.listAlive(clock.now()));
  } catch (error) {
    // Nothing can be transcribed while the database does not respond.
    if (error instanceof ServiceError) return toWorkerStatus([]);
    throw error;
  }
}

function toWorkerStatus(workers: readonly SpeechWorker[]): WorkerStatus {
  const isAlive = (kind: WorkerKind): boolean => workers.some((worker) => worker.kind === kind);
  return {
    transcriptionLive: isAlive('stt-live'),
    transcriptionPost: isAlive('stt-post'),
    languages: {
      live: [...listLanguages(workers, 'stt-live')],
      post: [...listLanguages(workers, 'stt-post')],
    },
    failedLanguages: {
      live: [...listFailedLanguages(workers, 'stt-live')],
      post: [...listFailedLanguages(workers, 'stt-post')],
    },
  };
}
