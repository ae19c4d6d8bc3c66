import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import type { OwnKey } from '../../../contract/keys.ts';
import { PROBE_ROOM_PREFIX } from '../../../contract/names.ts';
import type { Readiness } from '../../../contract/self-check.ts';
import { acceptsConnections } from '../../connection/accepts-connections.ts';
import { openClient } from '../../connection/connect.ts';
import { EXIT } from '../../errors/cli-error.ts';
import { describeError } from '../../errors/describe-error.ts';
import type { Context } from '../../framework/context.ts';
import { formatRelative } from '../../terminal/time.ts';
import {
  CHECK_TIMEOUT_MS,
  type Check,
  type Credentials,
  failedCheck,
  fault,
  found,
  isLackOfScope,
  note,
  ok,
  skipped,
  withBasePathStep,
} from './checks.ts';

/** A name that no user would choose. The room is never created. */
export const NO_ROOM = 'rtc-doctor';
/** Time limit: the service tests the bucket in some steps of 4 s each at most. */
const SELF_CHECK_TIMEOUT_MS = 30_000;

type Deps = ProbeDeps & { readonly url: string };

/** Runs the checks that need a signed request. They stop when the next one could have no meaning. */
export async function checkService(
  context: Context,
  target: Credentials & { readonly url: string },
  options: { readonly withProbe: boolean },
): Promise<readonly Check[]> {
  const client = await openClient(context, target);
  const deps = { context, client, url: target.url };
  try {
    const roomsError = await catchError(() => client.rooms.list({ limit: 1, ...callOptions(context) }));
    const signature = checkSignature(deps, roomsError);
    if (signature.status === 'fault') return [signature];
    const key = await checkKey(deps);
    const readiness = await client.ready(callOptions(context)).catch(() => undefined);
    const media = checkMediaServer(deps, roomsError, readiness);
    const database = checkDatabase(readiness);
    const own = await checkSelf(deps);
    if (media.status === 'fault') {
      const why = 'needs the media server';
      const needy = ['ingress', 'events', 'recording'] as const;
      return [signature, key, media, database, ...own, ...needy.map((check) => skipped(check, why))];
    }
    const rest = await checkRooms(deps, own, options);
    return [signature, key, media, database, ...checkRetention(readiness), ...rest, await checkAddons(deps)];
  } finally {
    await client.close();
  }
}

/** Returns `own`, and the checks of ingress, events and recording. */
async function checkRooms(
  deps: Deps,
  own: readonly Check[],
  { withProbe }: { readonly withProbe: boolean },
): Promise<readonly Check[]> {
  const { context, client } = deps;
  const error = await catchError(() => client.ingress.list(NO_ROOM, callOptions(context)));
  if (error?.code === 'room-not-found') {
    const needy = ['ingress', 'events', 'recording'] as const;
    return [...own, ...needy.map((check) => skipped(check, 'needs a key for all rooms'))];
  }
  const events = withProbe ? await probeEvents(deps) : skipped('events', 'needs a test room', PROBE);
  // The list needs no worker, but the media server keeps it in Redis.
  if (error?.code === 'media-worker-unavailable') return withoutRedis(own, events);
  const listed =
    error === undefined
      ? ok('ingress', 'the media server hands out addresses for streams')
      : failedCheck('ingress', error, context.io.clock());
  if (!withProbe) return [...own, listed, events, skipped('recording', 'needs a test recording', PROBE)];
  const ingress = isMissing(own, 'ingress worker') ? listed : await probeIngress(deps);
  const recording = isMissing(own, 'recorder')
    ? skipped('recording', 'needs a recorder')
    : await probeRecording(deps);
  return [...own, ingress, events, recording];
}

const PROBE = 'rtc doctor --probe';

/** Returns whether the service's own checks already reported that the worker is missing. */
function isMissing(own: readonly Check[], worker: MediaWorkerCheck): boolean {
  return own.some(({ check, status }) => check === worker && (status === 'fault' || status === 'note'));
}

type MediaWorkerCheck = 'recorder' | 'ingress worker';

function isOfMediaWorker({ check }: Check): boolean {
  return check === 'recorder' || check === 'ingress worker';
}

/**
 * Recordings and streams both need a media server with Redis. A deployment may want neither. One whose service knows a Redis
 * wants them.
 */
function withoutRedis(own: readonly Check[], events: Check): readonly Check[] {
  const isWanted = own.some((check) => isOfMediaWorker(check) && check.status === 'warning');
  const missing = (
    check: 'ingress' | 'recording',
    lack: string,
    [use, image]: readonly [string, string],
  ) => ({
    check,
    status: isWanted ? ('fault' as const) : ('note' as const),
    detail: `the media server runs without Redis, so ${lack}`,
    next: `for ${use}, name a Redis in the media server's configuration (redis.address), and run ${image} on it`,
  });
  // The service advises a REDIS_URL, but there is no such Redis.
  const unadvised = own.map((check) =>
    isOfMediaWorker(check) && check.status === 'skipped'
      ? skipped(check.check, 'none can connect, since the media server runs without Redis')
      : check,
  );
  return [
    ...unadvised,
    missing('ingress', 'nothing takes streams', ['streams', 'livekit/ingress']),
    events,
    missing('recording', 'nothing records', ['recordings', 'livekit/egress']),
  ];
}

function callOptions(context: Context): { readonly signal: AbortSignal; readonly timeoutMs: number } {
  return { signal: context.io.signal, timeoutMs: CHECK_TIMEOUT_MS };
}

async function catchError(call: () => Promise<unknown>): Promise<RtcError | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof RtcError && error.code !== 'aborted') return error;
    throw error;
  }
}

function checkSignature({ context, url }: Deps, error: RtcError | undefined): Check {
  if (error === undefined || isLackOfScope(error)) {
    return ok('signature', 'the service accepts our key and signature');
  }
  const nowMs = context.io.clock();
  const isRefused = describeError(error, nowMs).exitCode === EXIT.authentication;
  if (isRefused) {
    const { next, ...found } = failedCheck('signature', error, nowMs);
    const isPathInDoubt = error.code === 'invalid-signature' && error.hint === undefined;
    return { ...found, next: isPathInDoubt ? withBasePathStep(next, url) : next };
  }
  // Another error may have followed, because authentication precedes all other work.
  if (error.problem !== undefined) return ok('signature', 'the service accepts our key and signature');
  return failedCheck('signature', error, nowMs);
}

function checkMediaServer(
  { context }: Deps,
  error: RtcError | undefined,
  readiness: Readiness | undefined,
): Check {
  if (error !== undefined && !isLackOfScope(error)) {
    return failedCheck('media server', error, context.io.clock());
  }
  if (readiness?.checks.mediaServer === false) {
    return fault('media server', 'the service says that it is not ready', "look at the service's log");
  }
  return ok('media server', 'responds, and accepts the service’s key');
}

function checkDatabase(readiness: Readiness | undefined): Check {
  if (readiness === undefined) return skipped('database', 'GET /ready did not respond');
  return readiness.checks.database
    ? ok('database', 'responds')
    : fault(
        'database',
        'does not respond',
        "check DATABASE_URL or the disk of DATA_DIR, and the service's log",
      );
}

const RETENTION_STEPS: Readonly<Record<NonNullable<Readiness['purgeRefusedBecause']>, string>> = {
  pause: "correct the clock, or confirm it on the service's machine: rtc admin confirm-clock",
  'database-clock':
    "set the wrong clock (NTP), the service's or the database's: they differ by more than five minutes",
  'media-server-clock':
    "set the wrong clock (NTP), the service's or LiveKit's: they differ by more than five minutes",
};

/** Shown only while the service deletes nothing. */
function checkRetention(readiness: Readiness | undefined): readonly Check[] {
  if (readiness?.purgeRefusedSince === undefined) return [];
  return [
    fault(
      'retention',
      `nothing is deleted since ${readiness.purgeRefusedSince}, because the service's clock may be wrong`,
      RETENTION_STEPS[readiness.purgeRefusedBecause ?? 'pause'],
    ),
  ];
}

/** Runs the checks that only the service can make, because it has the keys. An older service has no such endpoint. */
async function checkSelf({ context, client }: Deps): Promise<readonly Check[]> {
  try {
    const { checks } = await client.checkSelf({
      signal: context.io.signal,
      timeoutMs: SELF_CHECK_TIMEOUT_MS,
    });
    return checks.map(found);
  } catch (error) {
    if (!(error instanceof RtcError) || error.code === 'aborted') throw error;
    if (error.status === 404)
      return [skipped('bucket', 'this version of the service cannot try it', 'update it')];
    return [failedCheck('bucket', error, context.io.clock())];
  }
}

/** Add-ons are optional, so a missing one is no fault. */
async function checkAddons({ context, client }: Deps): Promise<Check> {
  try {
    const { capabilities } = await client.health(callOptions(context));
    const running = [
      capabilities.transcriptionLive ? `live transcription${inLanguages(capabilities.languages?.live)}` : '',
      capabilities.transcriptionPost
        ? `post-call transcription${inLanguages(capabilities.languages?.post)}`
        : '',
    ].filter((name) => name !== '');
    return running.length === 0
      ? note('add-ons', 'no transcription worker is running (optional)')
      : ok('add-ons', running.join(', '));
  } catch (error) {
    if (!(error instanceof RtcError) || error.code === 'aborted') throw error;
    return failedCheck('add-ons', error, context.io.clock());
  }
}

/** Services of earlier versions do not list them. */
function inLanguages(languages: readonly string[] | undefined): string {
  return languages === undefined || languages.length === 0 ? '' : ` (${languages.join(', ')})`;
}

const CHECK = 'API key';
/** Time to create another key and to distribute it. */
const ENDS_SOON_MS = 7 * 86_400_000;

/** Describes the scopes of the key. A missing scope is no fault, because keys are created with few scopes on purpose. */
async function checkKey({
  context,
  client,
}: {
  readonly context: Context;
  readonly client: RtcClient;
}): Promise<Check> {
  const { signal, clock } = context.io;
  try {
    const key = await client.keys.self({ signal, timeoutMs: CHECK_TIMEOUT_MS });
    // A program that responds so is not this service, which other checks report.
    if (!Array.isArray(key.scopes)) return skipped(CHECK, 'the response does not say');
    return describeKey(key, clock());
  } catch (error) {
    if (!(error instanceof RtcError) || error.code === 'aborted') throw error;
    if (error.status === 404) return skipped(CHECK, 'this version of the service cannot tell', 'update it');
    return failedCheck(CHECK, error, clock());
  }
}

function describeKey({ id, name, isRoot, scopes, rooms, expiresAt }: OwnKey, nowMs: number): Check {
  if (isRoot) return ok(CHECK, 'the root key, which may do everything');
  const part = rooms === null ? '' : ` for rooms that begin with ${rooms.join(' or ')}`;
  const said = `${id} (${name}) has the scopes ${scopes.join(', ')}${part}`;
  if (expiresAt === null) return ok(CHECK, said);
  const endsAt = Date.parse(expiresAt);
  const detail = `${said}; it ends ${formatRelative(endsAt, nowMs)}`;
  if (endsAt - nowMs > ENDS_SOON_MS) return ok(CHECK, detail);
  return {
    check: CHECK,
    status: 'warning',
    detail,
    next: 'make another one in time, by the root key: rtc keys create',
  };
}

/* Probes in rooms of their own, which are deleted afterwards. No webhook gets their events. */

type ProbeDeps = { readonly context: Context; readonly client: RtcClient };

/** Time limit: the maximum of RECORDER_PATIENCE, and the time of the request. */
const PROBE_TIMEOUT_MS = 30_000;
/** Time limit: the media server's webhooks arrive within a second, and so does its first retry. */
const EVENT_TIMEOUT_SECONDS = 5;

/** Checks that the media server sends the event of a room that was just created. */
async function probeEvents(deps: ProbeDeps): Promise<Check> {
  const { context, client } = deps;
  const { signal } = context.io;
  return await inRoom(deps, 'events', async (room) => {
    const { nextCursor: cursor } = await client.events.list({ cursor: 'latest', signal });
    await client.rooms.create({ name: room, emptyTimeout: 60 }, { signal });
    const query = { cursor, room, wait: EVENT_TIMEOUT_SECONDS };
    const { events } = await client.events.list({ ...query, signal, timeoutMs: PROBE_TIMEOUT_MS });
    if (events.length > 0) return ok('events', 'the media server’s webhooks reach the service');
    return fault(
      'events',
      'the media server’s webhooks do not reach the service',
      'put <SERVICE_URL>/livekit/webhook into webhook.urls of its configuration, with its api_key',
    );
  });
}

/** Makes a recording and stops it at once. The aborted recording is deleted. */
async function probeRecording(deps: ProbeDeps): Promise<Check> {
  const { context, client } = deps;
  const { signal } = context.io;
  return await inRoom(deps, 'recording', async (room) => {
    await client.rooms.create({ name: room, emptyTimeout: 60 }, { signal });
    const options = { signal, timeoutMs: PROBE_TIMEOUT_MS };
    const { egressId } = await client.recordings.start(room, options);
    await client.recordings.stop(room, options);
    // The record remains if the recording has not ended yet.
    await client.recordings.delete(egressId, { timeoutMs: CHECK_TIMEOUT_MS }).catch(() => undefined);
    return ok('recording', 'a recorder made a test recording');
  });
}

/** Checks that a worker listens at the address of streams. */
async function probeIngress(deps: ProbeDeps): Promise<Check> {
  const { context, client } = deps;
  const { signal } = context.io;
  return await inRoom(deps, 'ingress', async (room) => {
    const { ingressId, url } = await client.ingress.create(room, {}, { signal });
    try {
      if (url === '') {
        const next = 'set ingress.rtmp_base_url (and whip_base_url) in the configuration of the media server';
        return fault('ingress', 'the media server has no address for streams', next);
      }
      const isThere = await acceptsConnections(url, signal);
      if (isThere === true) return ok('ingress', `something accepts connections at ${url}`);
      return fault('ingress', `nothing accepts connections at ${url} from here`, START_INGRESS);
    } finally {
      await client.ingress.delete(room, ingressId, { timeoutMs: CHECK_TIMEOUT_MS }).catch(() => undefined);
    }
  });
}

async function inRoom(
  { context, client }: ProbeDeps,
  check: 'events' | 'recording' | 'ingress',
  work: (room: string) => Promise<Check>,
): Promise<Check> {
  const room = `${PROBE_ROOM_PREFIX}${check}-${context.io.clock().toString(36)}`;
  try {
    return await work(room);
  } catch (error) {
    const found = failedCheck(check, error, context.io.clock());
    if (!(error instanceof RtcError) || error.code !== 'media-worker-unavailable') return found;
    return { ...found, next: check === 'ingress' ? START_INGRESS : START_RECORDER };
  } finally {
    // Not cancelled with the rest, because the probe room is deleted in any case, at the latest by its empty timeout.
    await client.rooms.delete(room, { timeoutMs: CHECK_TIMEOUT_MS }).catch(() => undefined);
  }
}

const START_INGRESS =
  'run the image livekit/ingress (INGRESS_CONFIG_BODY as of a recorder) where that address leads to; rtc help recorder has the command';
/** A hint in one line; `rtc help recorder` has the whole command. */
const START_RECORDER =
  'run the image livekit/egress (EGRESS_CONFIG_BODY with api_key and api_secret, a pair of its own among the media server’s keys, ws_url and redis.address); rtc help recorder has the command';
