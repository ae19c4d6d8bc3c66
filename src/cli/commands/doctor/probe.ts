import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import { PROBE_ROOM_PREFIX } from '../../../contract/probe-rooms.ts';
import { acceptsConnections } from '../../connection/accepts-connections.ts';
import type { Context } from '../../framework/context.ts';
import { CHECK_TIMEOUT_MS, type Check, failedCheck, fault, ok } from './checks.ts';

/* Probes in rooms of their own, which are deleted afterwards. No webhook gets their events. */

export type ProbeDeps = { readonly context: Context; readonly client: RtcClient };

/** Time limit: the maximum of RECORDER_PATIENCE, and the time of the request. */
const PROBE_TIMEOUT_MS = 30_000;
/** Time limit: the media server's webhooks arrive within a second, and so does its first retry. */
const EVENT_TIMEOUT_SECONDS = 5;

/** Checks that the media server sends the event of a room that was just created. */
export async function probeEvents(deps: ProbeDeps): Promise<Check> {
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
export async function probeRecording(deps: ProbeDeps): Promise<Check> {
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
export async function probeIngress(deps: ProbeDeps): Promise<Check> {
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
  'run the image livekit/egress (EGRESS_CONFIG_BODY with api_key, api_secret, ws_url and redis.address of the media server); rtc help recorder has the command';
