import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import { membersOf } from '../../contract/unknown-value.ts';
import type { Clock } from '../platform/clock.ts';
import type { LeaseStore } from '../platform/jobs/leases.ts';
import { isKeyRefused } from '../platform/livekit/errors.ts';
import { type MediaServer, NO_ROOM } from '../platform/livekit/media-server.ts';
import type { MediaWorkers, WorkerCount } from '../platform/livekit/media-workers.ts';
import { createRefresh } from './refresh.ts';

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

export type DependencyGauges = {
  readonly watch: (dependencies: Dependencies) => void;
  readonly refresh: () => Promise<void>;
};

/** Creates the gauges. They have no series before `watchDependencies`, nor while a value is unknown. */
export function createDependencyGauges(registry: Registry): DependencyGauges {
  const gauges = registerDependencies(registry);
  let refreshers: readonly (() => Promise<void>)[] = [];
  return {
    watch: (dependencies) => {
      refreshers = createRefreshers(gauges, dependencies);
    },
    refresh: async () => {
      await Promise.all(refreshers.map((refresh) => refresh()));
    },
  };
}

type DependencySeries = ReturnType<typeof registerDependencies>;

function registerDependencies(registry: Registry) {
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

function createRefreshers(gauges: DependencySeries, dependencies: Dependencies): readonly (() => Promise<void>)[] {
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
    if (membersOf(error).code !== 'ENOENT' || dirname(path) === path) throw error;
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
