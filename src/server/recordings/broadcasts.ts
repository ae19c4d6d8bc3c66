import {
  type Broadcast,
  type BroadcastChange,
  type BroadcastList,
  type BroadcastListQuery,
  type BroadcastSettings,
  type BroadcastStart,
  type BroadcastStatus,
  MAX_STREAM_URLS,
} from '../../contract/broadcasts.ts';
import { ServiceError } from '../../contract/errors.ts';
import { toInstant } from '../platform/clock.ts';
import { type OfRooms, pageReader } from '../platform/http/read-page.ts';
import { refusedField } from '../platform/http/refusals.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import { fingerprintStreamUrl, maskStreamUrl } from '../platform/livekit/stream-urls.ts';
import type { SecretBox } from '../platform/secrets/encryption-keys.ts';
import type { SealedSecrets } from '../platform/secrets/key-rotation.ts';
import { getRoom } from '../rooms/rooms.ts';
import { type AddressGuard, ForbiddenAddress } from '../webhooks/sender/address-guard.ts';
import { isOpen, readOutputs, type Stream, type StreamsChange, writeOutputs } from './broadcast-outputs.ts';
import { findRunning, type RefreshDeps, refreshRecording } from './egress-state.ts';
import { applyObservation, toBroadcastState, toHls } from './recording-events.ts';
import { recordingPath } from './recording-path.ts';
import { deleteStored } from './recordings.ts';
import { type EgressStart, type RecordingDeps, startInRoom } from './start-recording.ts';
import type { Recording, RecordingStores } from './store.ts';

/*
 * A broadcast sends the composed picture of a room to other servers (RTMP, SRT), writes it as HLS beside the recordings, or
 * both. It is a row of the recordings' table, of another kind: it starts, is lost and ends as a recording does.
 *
 * The recorder connects to the URLs, not this service. A caller with a key could thereby make it connect to the recorder's
 * own network, so the address of each host is checked before the recorder gets its URL. The recorder resolves the name
 * again: what its network must keep secret from whoever controls a name, its network has to refuse to it.
 */

export type BroadcastDeps = RecordingDeps &
  RefreshDeps & {
    readonly secretBox: Pick<SecretBox, 'seal' | 'open'>;
    /** Undefined when every address is allowed. */
    readonly broadcastGuard: AddressGuard | undefined;
  };

const DEFAULT_HLS = { segmentSeconds: 4, playlist: 'index.m3u8', livePlaylist: 'live.m3u8' };

/**
 * Starts a broadcast, or returns the running one of the room, which keeps its own settings. Throws invalid-request,
 * room-not-found, media-worker-unavailable and the media server's own errors.
 */
export async function startBroadcast(
  deps: BroadcastDeps,
  room: string,
  settings: BroadcastSettings,
): Promise<BroadcastStart> {
  const { urls = [], hls: wanted, layout, preset } = settings;
  if (urls.length === 0 && wanted === undefined) throw refusedField('#', 'needs urls, hls or both');
  const hls = wanted === undefined ? null : { ...DEFAULT_HLS, ...wanted };
  if (hls !== null && hls.playlist === hls.livePlaylist)
    throw refusedField('#/hls/livePlaylist', 'must not be the same as playlist');
  refuseIndistinct(urls, { known: [], pointer: '#/urls' });
  await checkHosts(deps, urls, '#/urls');
  const { bucket, directory, pathTemplate } = deps.recordings;
  const start: EgressStart = {
    kind: 'broadcast',
    describe: (now) => {
      const id = `bc_${deps.ids.next()}`;
      const streams = urls.map((url) => newStream(deps, { url, broadcastId: id, at: now }));
      const folder = recordingPath(pathTemplate, room, now).replace(/\.mp4$/, '.hls');
      const path = hls === null ? '' : `${folder}/${hls.playlist}`;
      return {
        id,
        filepath: path === '' || bucket !== undefined ? path : `${directory}/${path}`,
        bucket: hls === null ? null : (bucket?.bucket ?? null),
        outputs: writeOutputs({ hls, streams }),
      };
    },
    describeEgress: ({ filepath }) => ({
      filepath,
      settings: { ...(layout !== undefined && { layout }), ...(preset !== undefined && { preset }) },
      broadcast: { urls, hls: hls ?? undefined },
    }),
  };
  const { recording, isNew } = await startInRoom(deps, room, start);
  return { ...toBroadcast(recording), status: isNew ? 'broadcasting' : 'already_broadcasting' };
}

/** Returns the running broadcast of a room, or the one that ran last. Throws room-not-found. */
export async function getBroadcastStatus(deps: BroadcastDeps, room: string): Promise<BroadcastStatus> {
  const running = await findRunning(deps, room, 'broadcast');
  if (running !== undefined)
    return { isBroadcasting: running.status === 'recording', broadcast: toBroadcast(running) };
  const newest = await deps.store.recordings.findNewest(room, 'broadcast');
  if (newest === undefined || newest.status === 'starting') {
    await getRoom(deps, room);
    return { isBroadcasting: false, broadcast: null };
  }
  return { isBroadcasting: false, broadcast: toBroadcast(await refreshRecording(deps, newest)) };
}

/**
 * Adds and removes URLs of the running broadcast. What the recorder refuses leaves no trace. Throws invalid-request,
 * no-active-broadcast, conflict, room-not-found and the media server's own errors.
 */
export async function changeBroadcast(
  deps: BroadcastDeps,
  room: string,
  { add = [], remove = [] }: BroadcastChange,
): Promise<Broadcast> {
  const broadcast = await deps.store.recordings.findActive(room, 'broadcast');
  if (broadcast === undefined || broadcast.egressId === null) {
    await getRoom(deps, room);
    throw noActiveBroadcast(room);
  }
  const open = readOutputs(broadcast).streams.filter(isOpen);
  const removed = remove.map((text, index) => findStream(deps, { broadcast, text, index }));
  const kept = open.filter(({ id }) => !removed.some((one) => one.id === id));
  refuseIndistinct(add, { known: kept, pointer: '#/add' });
  refuseImpossible(broadcast, { add, kept });
  if (add.length === 0 && removed.length === 0) return toBroadcast(await refreshRecording(deps, broadcast));
  await checkHosts(deps, add, '#/add');
  const added = add.map((url) => newStream(deps, { url, broadcastId: broadcast.id, at: deps.clock.now() }));
  return await updateStreams(deps, { broadcast, egressId: broadcast.egressId, add, added, removed });
}

type StreamsUpdate = {
  readonly broadcast: Recording;
  readonly egressId: string;
  readonly add: readonly string[];
  readonly added: readonly Stream[];
  readonly removed: readonly Stream[];
};

/** Stores what is added before the recorder gets it, so that no URL is sent to that nobody knows of. */
async function updateStreams(
  deps: BroadcastDeps,
  { broadcast, egressId, add, added, removed }: StreamsUpdate,
): Promise<Broadcast> {
  const remove = removed.map((stream) => openUrl(deps, broadcast, stream));
  const stored = await noteStreams(deps, broadcast, { added });
  let egress: Egress;
  try {
    egress = await deps.mediaServer.updateStream(egressId, { add, remove });
  } catch (error) {
    // The recorder may have taken some of several URLs.
    const shown = await deps.mediaServer.listEgress({ egressId }).catch(() => []);
    const isShown = ({ fingerprint }: Stream, status: string): boolean =>
      shown.some(
        ({ streams }) => streams.findLast((one) => one.fingerprint === fingerprint)?.status === status,
      );
    await noteStreams(deps, stored, {
      removed: removed.filter((stream) => isShown(stream, 'FINISHED')),
      refused: added.filter((stream) => !isShown(stream, 'ACTIVE')),
    });
    throw error;
  }
  const noted = await noteStreams(deps, stored, { removed });
  const applied = await applyObservation(deps, noted, { type: 'egress', egress, at: deps.clock.now() });
  return toBroadcast(applied.recording ?? noted);
}

/** Stores what has changed in the URLs, and returns the current row. */
async function noteStreams(
  deps: BroadcastDeps,
  broadcast: Recording,
  { added = [], removed = [], refused = [] }: Partial<Record<keyof StreamsChange, readonly Stream[]>>,
): Promise<Recording> {
  const change = { added, removed: removed.map(({ id }) => id), refused: refused.map(({ id }) => id) };
  const observation = { type: 'streams-changed', change, at: deps.clock.now() } as const;
  return (await applyObservation(deps, broadcast, observation)).recording ?? broadcast;
}

/** Finds a URL that the stream goes to by its id or as a whole. */
function findStream(
  deps: BroadcastDeps,
  {
    broadcast,
    text,
    index,
  }: { readonly broadcast: Recording; readonly text: string; readonly index: number },
): Stream {
  const open = readOutputs(broadcast).streams.filter(isOpen);
  const isUrl = text.includes('://');
  const found = open.find(
    (stream) => stream.id === text || (isUrl && openUrl(deps, broadcast, stream) === text),
  );
  if (found !== undefined) return found;
  throw refusedField(`#/remove/${index}`, 'is no urlId, and no URL, that this broadcast goes to');
}

function openUrl({ secretBox }: BroadcastDeps, broadcast: Recording, { sealed }: Stream): string {
  return secretBox.open(sealed ?? '', broadcast.id);
}

function refuseImpossible(
  broadcast: Recording,
  { add, kept }: { readonly add: readonly string[]; readonly kept: readonly Stream[] },
): void {
  const { hls, streams } = readOutputs(broadcast);
  if (add.length > 0 && streams.length === 0)
    throw new ServiceError(
      'conflict',
      'This broadcast began without urls, and its recorder cannot add any.',
      {
        hint: { text: 'stop it, and start one with urls and hls' },
      },
    );
  if (kept.length + add.length > MAX_STREAM_URLS)
    throw refusedField('#/add', `would lead to more than ${MAX_STREAM_URLS} URLs at once`);
  const isSrt = streams.some(({ url }) => url.startsWith('srt:'));
  const other = add.findIndex((url) => url.startsWith('srt:') !== isSrt);
  if (other >= 0)
    throw refusedField(
      `#/add/${other}`,
      `must be ${isSrt ? 'srt' : 'rtmp or rtmps'}, like the URLs of the start`,
    );
  if (kept.length + add.length === 0 && hls === null)
    throw new ServiceError('conflict', 'Without its last URL the broadcast would go nowhere.', {
      hint: { text: 'stop it instead' },
    });
}

/** LiveKit lists URLs with the first and last characters of their keys only, so that two may look the same. */
function refuseIndistinct(
  urls: readonly string[],
  { known, pointer }: { readonly known: readonly Stream[]; readonly pointer: string },
): void {
  const seen = new Set(known.map(({ fingerprint }) => fingerprint));
  for (const [index, url] of urls.entries()) {
    const fingerprint = fingerprintStreamUrl(url);
    if (seen.has(fingerprint))
      throw refusedField(
        `${pointer}/${index}`,
        'cannot be told from another URL: both have the same place, and keys that begin and end alike',
      );
    seen.add(fingerprint);
    if (url.startsWith('srt:') !== (urls[0] ?? '').startsWith('srt:'))
      throw refusedField(
        `${pointer}/${index}`,
        'must have the protocol of the first: the recorder sends either SRT or RTMP',
      );
  }
}

type NewStream = { readonly url: string; readonly broadcastId: string; readonly at: number };

function newStream({ ids, secretBox }: BroadcastDeps, { url, broadcastId, at }: NewStream): Stream {
  return {
    id: `bu_${ids.next()}`,
    url: maskStreamUrl(url),
    fingerprint: fingerprintStreamUrl(url),
    sealed: secretBox.seal(url, broadcastId),
    state: 'connecting',
    since: at,
    error: null,
    retries: 0,
  };
}

/** Throws invalid-request for a host whose address is not public and not in BROADCAST_ALLOWED_NETWORKS. */
async function checkHosts(
  { broadcastGuard }: BroadcastDeps,
  urls: readonly string[],
  pointer: string,
): Promise<void> {
  if (broadcastGuard === undefined) return;
  const checks = urls.map(async (url, index) => {
    const reason = await findReason(broadcastGuard, new URL(url).hostname.replace(/^\[|\]$/g, ''));
    if (reason !== undefined) throw refusedField(`${pointer}/${index}`, reason);
  });
  await Promise.all(checks);
}

function findReason(guard: AddressGuard, host: string): Promise<string | undefined> {
  const forbidden =
    'leads to an address that is not public: BROADCAST_ALLOWED_NETWORKS does not have its network';
  return new Promise((resolve) => {
    guard.lookup(host, { all: true }, (error) => {
      if (error === null) resolve(undefined);
      else
        resolve(error instanceof ForbiddenAddress ? forbidden : 'has a host whose address cannot be found');
    });
  });
}

export function noActiveBroadcast(room: string): ServiceError {
  return new ServiceError('no-active-broadcast', `The room ${JSON.stringify(room)} is not being broadcast.`);
}

const readPage = pageReader('broadcasts');

/** Lists stored broadcasts, the newest first, without those that are being started. */
export async function listBroadcasts(
  deps: Pick<BroadcastDeps, 'store'>,
  { roomId: room, rooms, ...asked }: OfRooms<BroadcastListQuery>,
): Promise<BroadcastList> {
  const { rows, nextCursor } = await readPage(asked, (wanted) =>
    deps.store.recordings.list({ kind: 'broadcast', room, rooms, ...wanted }),
  );
  return {
    broadcasts: rows.flatMap((row) => (row.status === 'starting' ? [] : [toBroadcast(row)])),
    nextCursor,
  };
}

/** Deletes the HLS, then the record. Throws broadcast-not-found, recording-not-finished and the storage's errors. */
export async function deleteBroadcast(deps: BroadcastDeps, id: string): Promise<void> {
  const found = /^[\w-]+$/.test(id) ? await deps.store.recordings.find(id) : undefined;
  if (found === undefined || found.kind !== 'broadcast' || found.status === 'starting')
    throw broadcastNotFound(id);
  await deleteStored(deps, found);
}

export function broadcastNotFound(id: string): ServiceError {
  return new ServiceError('broadcast-not-found', `There is no broadcast ${JSON.stringify(id)}.`);
}

function toBroadcast(row: Recording): Broadcast {
  return {
    broadcastId: row.id,
    roomId: row.room,
    egressId: row.egressId,
    status: toBroadcastState(row.status),
    startedAt: toInstant(row.startedAt),
    stoppedAt: toInstant(row.stoppedAt),
    endedAt: toInstant(row.endedAt),
    durationMs: row.durationMs,
    sizeBytes: row.sizeBytes,
    error: row.error,
    urls: readOutputs(row).streams.map(({ id, url, state, since, error, retries }) => ({
      urlId: id,
      url,
      state,
      error,
      retries,
      since: new Date(since).toISOString(),
    })),
    hls: toHls(row),
  };
}

const ROWS_AT_ONCE = 200;

/** Lists all broadcasts that run, or were stopped a moment ago. */
async function listRunning(
  recordings: Pick<RecordingStores['recordings'], 'list'>,
): Promise<readonly Recording[]> {
  const rows: Recording[] = [];
  for (const status of ['starting', 'recording', 'stopped'] as const) {
    let page: readonly Recording[] = [];
    do {
      const after = page.at(-1);
      page = await recordings.list({ kind: 'broadcast', status, after, limit: ROWS_AT_ONCE });
      rows.push(...page);
    } while (page.length === ROWS_AT_ONCE);
  }
  return rows;
}

/** The URLs of running broadcasts, for a rotation of ENCRYPTION_KEY. Ended broadcasts keep none. */
export const SEALED_BROADCAST_URLS: SealedSecrets<Pick<RecordingStores, 'recordings'>> = {
  name: 'broadcasts',
  list: async ({ recordings }) => {
    const rows = await listRunning(recordings);
    return rows.flatMap((row) => {
      const { hls, streams } = readOutputs(row);
      const sealed = streams.flatMap((stream) => stream.sealed ?? []);
      if (sealed.length === 0) return [];
      return {
        id: row.id,
        sealed,
        replace: async ({ recordings: inside }, replaced) => {
          const next = [...replaced];
          const renewed = streams.map((one) =>
            one.sealed === null ? one : { ...one, sealed: next.shift() ?? null },
          );
          return (
            (await inside.update(row, { outputs: writeOutputs({ hls, streams: renewed }) })) !== undefined
          );
        },
      };
    });
  },
};
