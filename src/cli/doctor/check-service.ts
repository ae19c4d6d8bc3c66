import type { RtcClient } from '../../client/client.ts';
import { RtcError } from '../../client/rtc-error.ts';
import type { Readiness } from '../../contract/health.ts';
import { openClient } from '../connect.ts';
import type { Context } from '../context.ts';
import { explain } from '../explain.ts';
import { EXIT } from '../failure.ts';
import { CHECK_TIMEOUT_MS, type Check, type Credentials, fault, faultOf, ok, skipped } from './checks.ts';

/** A name that no user would choose; nothing is created under it without --probe. */
const PROBE_ROOM = 'rtc-doctor-probe';
/** The service gives a recorder 25 s. */
const PROBE_TIMEOUT_MS = 30_000;

type Deps = { readonly context: Context; readonly client: RtcClient };

/** What only a signed request can tell; stops where the next check could not mean anything. */
export async function checkService(
  context: Context,
  target: Credentials & { readonly url: string },
  options: { readonly withProbe: boolean },
): Promise<readonly Check[]> {
  const client = await openClient(context, target);
  const deps = { context, client };
  try {
    const roomsError = await errorOf(() => client.listRooms({ limit: 1, ...callOptions(context) }));
    const signature = checkSignature(deps, roomsError);
    if (signature.status === 'fault') return [signature];
    const readiness = await client.ready(callOptions(context)).catch(() => undefined);
    const media = checkMediaServer(deps, roomsError, readiness);
    const database = checkDatabase(readiness);
    if (media.status === 'fault') {
      const why = 'needs the media server';
      const needy = ['ingress', 'events', 'recording'] as const;
      return [signature, media, database, ...needy.map((check) => skipped(check, why))];
    }
    const ingress = await checkIngress(deps);
    const probes = options.withProbe
      ? [await probeEvents(deps), await probeRecording(deps)]
      : [
          skipped('events', 'needs a room made for it', 'rtc doctor --probe'),
          skipped('recording', 'needs a trial recording', 'rtc doctor --probe'),
        ];
    return [signature, media, database, ingress, ...probes, await checkAddons(deps)];
  } finally {
    await client.close();
  }
}

function callOptions(context: Context): { readonly signal: AbortSignal; readonly timeoutMs: number } {
  return { signal: context.io.signal, timeoutMs: CHECK_TIMEOUT_MS };
}

async function errorOf(call: () => Promise<unknown>): Promise<RtcError | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (error instanceof RtcError && error.code !== 'aborted') return error;
    throw error;
  }
}

function checkSignature({ context }: Deps, error: RtcError | undefined): Check {
  if (error === undefined) return ok('signature', 'the service accepts our key and signature');
  const nowMs = context.io.clock();
  const isRefused = explain(error, nowMs).exitCode === EXIT.authentication;
  if (isRefused) return faultOf('signature', error, nowMs);
  // Whatever failed after that: authentication comes before any other work.
  if (error.problem !== undefined) return ok('signature', 'the service accepts our key and signature');
  return faultOf('signature', error, nowMs);
}

function checkMediaServer(
  { context }: Deps,
  error: RtcError | undefined,
  readiness: Readiness | undefined,
): Check {
  if (error !== undefined) return faultOf('media server', error, context.io.clock());
  if (readiness?.checks.mediaServer === false) {
    return fault('media server', 'the service says that it is not ready', "look at the service's log");
  }
  return ok('media server', 'answers, and accepts the service’s key');
}

function checkDatabase(readiness: Readiness | undefined): Check {
  if (readiness === undefined) return skipped('database', 'GET /ready gave no answer');
  return readiness.checks.database
    ? ok('database', 'answers')
    : fault(
        'database',
        'does not answer',
        "check DATABASE_URL or the disk of DATA_DIR, and the service's log",
      );
}

async function checkIngress({ context, client }: Deps): Promise<Check> {
  const error = await errorOf(() => client.listIngress(PROBE_ROOM, callOptions(context)));
  return error === undefined
    ? ok(
        'ingress',
        'the media server hands out endpoints; that an ingress worker runs, only a stream can tell',
      )
    : faultOf('ingress', error, context.io.clock());
}

/** The media server's webhooks come within a second; its first retry too. */
const EVENT_PATIENCE_SECONDS = 5;

/** Whether the media server tells the service of a room that was just made. */
async function probeEvents({ context, client }: Deps): Promise<Check> {
  const room = `${PROBE_ROOM}-events-${context.io.clock().toString(36)}`;
  const { signal } = context.io;
  try {
    const { nextCursor: cursor } = await client.listEvents({ cursor: 'latest', signal });
    await client.createRoom({ name: room, emptyTimeout: 60 }, { signal });
    const query = { cursor, room, wait: EVENT_PATIENCE_SECONDS };
    const { events } = await client.listEvents({ ...query, signal, timeoutMs: PROBE_TIMEOUT_MS });
    if (events.length > 0) return ok('events', 'the media server’s webhooks reach the service');
    return fault(
      'events',
      'the media server’s webhooks do not reach the service',
      'put <SERVICE_URL>/livekit/webhook into webhook.urls of its configuration, with its api_key',
    );
  } catch (error) {
    return faultOf('events', error, context.io.clock());
  } finally {
    await client.deleteRoom(room, { timeoutMs: CHECK_TIMEOUT_MS }).catch(() => undefined);
  }
}

/** A recording in a room of its own, stopped at once; what it leaves is an aborted recording. */
async function probeRecording({ context, client }: Deps): Promise<Check> {
  const room = `${PROBE_ROOM}-${context.io.clock().toString(36)}`;
  const { signal } = context.io;
  try {
    await client.createRoom({ name: room, emptyTimeout: 60 }, { signal });
    await client.startRecording(room, { signal, timeoutMs: PROBE_TIMEOUT_MS });
    await client.stopRecording(room, { signal, timeoutMs: PROBE_TIMEOUT_MS });
    return ok('recording', 'a recorder took a trial recording');
  } catch (error) {
    return faultOf('recording', error, context.io.clock());
  } finally {
    // Not cancelled with the rest: the probe room goes in any case, at the latest by its empty timeout.
    await client.deleteRoom(room, { timeoutMs: CHECK_TIMEOUT_MS }).catch(() => undefined);
  }
}

/** Add-ons are optional: one that does not run is no fault. */
async function checkAddons({ context, client }: Deps): Promise<Check> {
  const { capabilities } = await client.health(callOptions(context));
  const running = [
    capabilities.transcriptionLive ? 'live transcription' : '',
    capabilities.transcriptionPost ? 'post-call transcription' : '',
  ].filter((name) => name !== '');
  return running.length === 0
    ? skipped('add-ons', 'no transcription worker runs (optional)')
    : ok('add-ons', running.join(', '));
}
