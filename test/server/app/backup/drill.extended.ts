import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EventList } from '../../../../src/contract/events.ts';
import { createBackup, restoreBackup } from '../../../../src/server/app/backup/backup.ts';
import { createFleet, type Fleet, type FleetInstance } from '../../webhooks/support/instance.ts';
import { postMediaEvent, roomFinished } from '../../webhooks/support/media-webhook.ts';

/* The drill of docs/storage.md: a service under load is backed up, killed and restored. */

const NOW = Date.UTC(2026, 0, 31, 9, 30);
const WRITERS = 4;
/** Number of events between two points of the drill, so that both sides of a point have something to lose. */
const ENOUGH = 40;

let fleet: Fleet;
let parent: string;
beforeEach(async () => {
  fleet = await createFleet();
  parent = await mkdtemp(join(tmpdir(), 'rtc-drill-'));
});
afterEach(async () => {
  await fleet.close();
  await rm(parent, { recursive: true });
});

/** Posts ends of rooms until the service is gone. Returns the names of the acknowledged rooms. */
function startLoad({ url }: FleetInstance) {
  const acknowledged: string[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let index = 0; ; index += 1) {
      const room = `room-${writer}-${index}`;
      const status = await postMediaEvent(url, roomFinished(room)).catch(() => undefined);
      if (status === undefined) return;
      if (status === 200) acknowledged.push(room);
    }
  };
  const ended = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  const untilMore = async (): Promise<void> => {
    const wanted = acknowledged.length + ENOUGH;
    await expect.poll(() => acknowledged.length).toBeGreaterThanOrEqual(wanted);
  };
  return { acknowledged, ended, untilMore };
}

async function listRooms(instance: FleetInstance): Promise<ReadonlySet<string>> {
  const rooms = new Set<string>();
  for (let cursor = ''; ; ) {
    const path = `/v1/events?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = (await fleet.call(instance, 'GET', path)) as EventList;
    for (const { room } of page.events) rooms.add(room?.name ?? '');
    if (page.events.length === 0) return rooms;
    cursor = page.nextCursor;
  }
}

it('a backup under load, a kill and a restore lose nothing that was acknowledged before the backup', async () => {
  const { dataDir } = fleet;
  const service = await fleet.start();
  const { acknowledged, ended, untilMore } = startLoad(service);
  await untilMore();
  const before = [...acknowledged];
  const folder = join(parent, 'backup');
  await createBackup({ dataDir, hasKeySetting: true, version: '1.2.3', now: NOW }, folder);
  await untilMore();
  await service.kill();
  await ended;

  await restoreBackup({ dataDir, now: NOW }, folder);
  const restored = await fleet.start();
  const rooms = await listRooms(restored);
  expect(before.filter((room) => !rooms.has(room))).toEqual([]);
  // Later events are missing, which shows that the backup was restored and the old data is gone.
  expect(acknowledged.filter((room) => !rooms.has(room)).length).toBeGreaterThan(0);
  expect(await postMediaEvent(restored.url, roomFinished('after'))).toBe(200);
  expect(await listRooms(restored)).toContain('after');
});
