import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import { readMembers } from '../../contract/unknown-value.ts';
import { type Clock, withTimeout } from '../platform/clock.ts';
import type { MediaWorkers, WorkerCount } from '../platform/livekit/count-media-workers.ts';
import { isKeyRefused } from '../platform/livekit/errors.ts';
import { type MediaServer, NO_ROOM } from '../platform/livekit/media-server.ts';
import type { LeaseStore } from '../platform/storage/leases.ts';
import { type FigureStore, type Figures, MOST_COUNTED } from './figures.sql.ts';

/** External dependencies of an instance. They are tried at a scrape, so that their state is known without requests. */
export type Dependencies = {
  readonly clock: Clock;
  readonly mediaServer: Pick<MediaServer, 'listRooms'>;
  readonly mediaWorkers: MediaWorkers;
  readonly leases: Pick<LeaseStore, 'acquire'>;
  /** Local folders by their content, such as `recordings`. */
  readonly folders: Readonly<Record<string, string>>;
};

const LEASE = 'metrics';

type DependencySeries = ReturnType<typeof registerDependencies>;

/** Creates the gauges. They have no series before they are refreshed first, nor while a value is unknown. */
export function registerDependencies(registry: Registry) {
  const registers = [registry];
  const disk = { labelNames: ['folder'], registers } as const;
  return {
    writable: new Gauge({
      name: 'rtc_database_writable',
      help: '1 while the database accepts writes, else 0: it is down, its disk is full, or it is read-only',
      registers,
    }),
    mediaServer: new Gauge({
      name: 'rtc_media_server_up',
      help: "1 while the media server responds, even if it refuses this service's key, else 0",
      registers,
    }),
    key: new Gauge({
      name: 'rtc_media_server_accepts_key',
      help: "1 while the media server accepts this service's key and clock, 0 while it refuses them; absent while it does not respond",
      registers,
    }),
    workers: new Gauge({
      name: 'rtc_media_workers',
      help: 'Recorders and ingress workers that are connected to the media server; absent without REDIS_URL and while Redis does not respond',
      labelNames: ['kind'],
      registers,
    }),
    free: new Gauge({
      name: 'rtc_disk_free_bytes',
      help: 'Bytes that this instance can still write to the disk of its folder of data or recordings; absent if recordings go to a bucket',
      ...disk,
    }),
    size: new Gauge({
      name: 'rtc_disk_size_bytes',
      help: 'Size of the disk of the folder of data or recordings',
      ...disk,
    }),
  };
}

export function createRefreshers(
  gauges: DependencySeries,
  dependencies: Dependencies,
): readonly (() => Promise<void>)[] {
  const { clock, leases, mediaServer, mediaWorkers, folders } = dependencies;
  return [
    createRefresh(clock, {
      read: () => leases.acquire({ name: LEASE, owner: LEASE, until: clock.now() }, clock.now()),
      update: (isWritten) => gauges.writable.set(isWritten === undefined ? 0 : 1),
    }),
    createRefresh(clock, {
      read: () => readMediaServer(mediaServer),
      update: (state) => showMediaServer(gauges, state),
    }),
    createRefresh(clock, {
      read: () => mediaWorkers.count(),
      update: (count) => showWorkers(gauges, count),
    }),
    ...Object.entries(folders).map(([folder, path]) =>
      createRefresh(clock, {
        read: () => readDisk(path),
        update: (disk) => showDisk(gauges, { folder, disk }),
      }),
    ),
  ];
}

type MediaServerState = 'ok' | 'refusing';

async function readMediaServer(mediaServer: Dependencies['mediaServer']): Promise<MediaServerState> {
  try {
    await mediaServer.listRooms([NO_ROOM]);
    return 'ok';
  } catch (error) {
    if (isKeyRefused(error)) return 'refusing';
    throw error;
  }
}

/** A reset sets a gauge without labels to 0, so the series of an unknown value is removed. */
function showMediaServer({ mediaServer, key }: DependencySeries, state: MediaServerState | undefined): void {
  mediaServer.set(state === undefined ? 0 : 1);
  if (state === undefined) key.remove({});
  else key.set(state === 'ok' ? 1 : 0);
}

function showWorkers({ workers }: DependencySeries, count: WorkerCount | undefined): void {
  workers.reset();
  if (count === undefined || count.unknown !== undefined) return;
  workers.set({ kind: 'recorder' }, count.recorders);
  workers.set({ kind: 'ingress' }, count.ingress);
}

type Disk = { readonly freeBytes: number; readonly sizeBytes: number };

/** A folder that does not exist yet will be made on the disk of its parent. */
async function readDisk(path: string): Promise<Disk> {
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
  } catch (error) {
    if (readMembers(error).code !== 'ENOENT' || dirname(path) === path) throw error;
    return await readDisk(dirname(path));
  }
}

function showDisk({ free, size }: DependencySeries, shown: { folder: string; disk: Disk | undefined }): void {
  const { folder, disk } = shown;
  if (disk === undefined) {
    free.remove({ folder });
    size.remove({ folder });
    return;
  }
  free.set({ folder }, disk.freeBytes);
  size.set({ folder }, disk.sizeBytes);
}

export type FigureSource = {
  readonly figures: FigureStore;
  /** The database's clock, which decides whether deliveries wait and workers are alive. */
  readonly clock: Clock;
};

export function createFigureRefresher(
  gauges: FigureSeries,
  { figures: store, clock }: FigureSource,
): () => Promise<void> {
  return createRefresh(clock, {
    read: () => store.read(clock.now()),
    update: (figures) =>
      figures === undefined ? hideFigures(gauges) : showFigures(gauges, figures, clock.now()),
  });
}

type FigureSeries = ReturnType<typeof registerFigures>;

/** Creates gauges of counts in the database. While it does not respond they have no series, and rtc_database_up is 0. */
export function registerFigures(registry: Registry) {
  const registers = [registry];
  return {
    up: new Gauge({ name: 'rtc_database_up', help: '1 while the database responds, else 0', registers }),
    pending: new Gauge({
      name: 'rtc_webhook_deliveries_pending',
      help: 'Deliveries that wait for their next attempt, of all instances; at most 100000 are counted',
      registers,
    }),
    oldest: new Gauge({
      name: 'rtc_webhook_oldest_pending_delivery_age_seconds',
      help: 'Age of the oldest waiting delivery; 0 if none waits',
      registers,
    }),
    rooms: new Gauge({ name: 'rtc_rooms', help: 'Open rooms', registers }),
    participants: new Gauge({ name: 'rtc_participants', help: 'Participants in open rooms', registers }),
    recordings: new Gauge({
      name: 'rtc_recordings',
      help: `Recordings by status; at most ${MOST_COUNTED} of each are counted`,
      labelNames: ['status'],
      registers,
    }),
    transcriptions: new Gauge({
      name: 'rtc_transcriptions',
      help: `Transcriptions by kind (live, post) and status, at most ${MOST_COUNTED} of each; queued and processing ones are the backlog`,
      labelNames: ['kind', 'status'],
      registers,
    }),
    workers: new Gauge({
      name: 'rtc_speech_workers',
      help: 'Running speech workers, by kind',
      labelNames: ['kind'],
      registers,
    }),
  };
}

/** A reset sets a gauge without labels to 0, which would mean that nothing waits. Therefore the series is removed. */
function hideFigures(gauges: FigureSeries): void {
  for (const gauge of Object.values(gauges)) {
    gauge.reset();
    gauge.remove({});
  }
  gauges.up.set(0);
}

function showFigures(gauges: FigureSeries, figures: Figures, now: number): void {
  const { oldestPendingDeliveryAt: oldest } = figures;
  gauges.up.set(1);
  gauges.pending.set(figures.deliveriesPending);
  gauges.oldest.set(oldest === null ? 0 : Math.max(0, now - oldest) / 1000);
  gauges.rooms.set(figures.rooms);
  gauges.participants.set(figures.participants);
  // Without the reset a status without any rows would keep its last count.
  for (const gauge of [gauges.recordings, gauges.transcriptions, gauges.workers]) gauge.reset();
  for (const status of ['starting', 'recording']) gauges.recordings.set({ status }, 0);
  for (const { status, count } of figures.recordings) gauges.recordings.set({ status }, count);
  for (const status of ['queued', 'processing']) gauges.transcriptions.set({ kind: 'post', status }, 0);
  for (const { kind, status, count } of figures.transcriptions) {
    gauges.transcriptions.set({ kind, status }, count);
  }
  for (const kind of ['stt-live', 'stt-post']) gauges.workers.set({ kind }, 0);
  for (const { kind, count } of figures.workers) gauges.workers.set({ kind }, count);
}

/** Minimum time between two reads, however many scrapers there are. */
const MAX_AGE_MS = 5_000;

/** Time limit of a read, for which a scrape waits. */
const READ_TIMEOUT_MS = 2_000;

type Refresh<T> = {
  readonly read: () => Promise<T>;
  /** Called with the value, or with undefined when the read failed or took too long. */
  readonly update: (value: T | undefined) => void;
};

/**
 * Returns a function that reads a value and passes it on, at most every five seconds and once at a time. A failed read is
 * repeated at the next call.
 */
function createRefresh<T>(clock: Clock, { read, update }: Refresh<T>): () => Promise<void> {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<T | undefined> | undefined;
  return async () => {
    const at = clock.monotonic();
    if (at - readAt < MAX_AGE_MS) return;
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    const value = await withTimeout(reading, READ_TIMEOUT_MS, undefined);
    if (value !== undefined) readAt = at;
    update(value);
  };
}
