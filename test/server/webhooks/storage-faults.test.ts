import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { createDatabase, startPostgres } from '../../support/parts/postgres.ts';
import { Random } from '../../support/random.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { LOOPBACK_ALLOWED, register } from './support/hooked-service.ts';
import { mediaWebhook, postMediaEvent, roomFinished } from './support/media-webhook.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';

/*
 * The store becomes unavailable under load and returns. Acknowledged events arrive. Others were refused with 503, and the
 * media server repeats them.
 */

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function startWith(environment: Readonly<Record<string, string>>) {
  const receiver = await startReceiver();
  cleanUps.push(receiver.close);
  const service = await startTestService({ environment: { ...LOOPBACK_ALLOWED, ...environment } });
  cleanUps.push(service.close);
  return { receiver, service };
}

const listArrived = ({ received }: Receiver) =>
  new Set(received.map(({ path, body }) => `${path} ${body.room.name}`));

const untilNonePending = async (service: TestService, id: string) => {
  const path = `/v1/webhooks/${id}/deliveries?status=pending&limit=1`;
  const pending = async () =>
    ((await service.call('GET', path)).json as { deliveries: unknown[] }).deliveries;
  await expect.poll(pending, { timeout: 60_000, interval: 100 }).toEqual([]);
};

describe('PostgreSQL that crashes and starts again under load', () => {
  const EVENTS = 600;
  const WEBHOOKS = 5;
  const CRASHES = 3;

  it('loses nothing that was acknowledged, and is used again automatically', async () => {
    const cluster = await startPostgres();
    cleanUps.push(cluster.close);
    const database = await createDatabase(cluster);
    // The shared cluster loses its last commits in a crash. A real one does not.
    await execute(
      database.url,
      `alter database ${new URL(database.url).pathname.slice(1)} set synchronous_commit = on`,
    );
    const { receiver, service } = await startWith({
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    });
    const webhooks: string[] = [];
    for (let index = 0; index < WEBHOOKS; index += 1) {
      webhooks.push((await register(service, `${receiver.url}/${index}`)).id);
    }
    const statuses = new Set<number>();
    const tell = async (name: string): Promise<void> => {
      for (;;) {
        const status = await postMediaEvent(service.url, roomFinished(name));
        statuses.add(status);
        if (status === 200) return;
        await delay(100);
      }
    };
    const names = Array.from({ length: EVENTS }, (_, index) => `pg-${index}`);
    const waiting = [...names];
    const load = Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) await tell(name);
      }),
    );
    const random = new Random(7);
    for (let crash = 1; crash <= CRASHES; crash += 1) {
      const arrivals = (EVENTS * WEBHOOKS * crash) / (CRASHES + 2) + random.integer(100);
      await expect
        .poll(() => listArrived(receiver).size, { timeout: 30_000, interval: 5 })
        .toBeGreaterThan(arrivals);
      await crashBackend(database.url);
    }
    await load;
    const complete = EVENTS * WEBHOOKS;
    await expect.poll(() => listArrived(receiver).size, { timeout: 30_000, interval: 50 }).toBe(complete);
    for (const id of webhooks) await untilNonePending(service, id);
    expect([...statuses].sort()).toEqual([200, 503]);
  }, 120_000);
});

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** If a backend dies by SIGKILL, the server ends all others, recovers and starts again. */
async function crashBackend(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ended = new Promise((resolve) => client.once('end', resolve));
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
  await ended;
}

/** A separate file system that can be full. Only root can mount one. */
const isRoot = process.getuid?.() === 0;
const DISK_BYTES = 24 * 1024 * 1024;

describe.skipIf(!isRoot)('a disk that is full, with SQLite on it (a tmpfs, for root alone)', () => {
  it('is reported, loses nothing that was acknowledged, and is used again when there is space', async () => {
    const disk = mkdtempSync(join(tmpdir(), 'rtc-full-disk-'));
    cleanUps.push(() => rmSync(disk, { recursive: true }));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'rtc-test', disk]);
    cleanUps.push(() => execFileSync('umount', ['--lazy', disk]));
    const { receiver, service } = await startWith({ DATA_DIR: disk });
    const { id } = await register(service, receiver.url);
    const acknowledged: string[] = [];
    const refused: string[] = [];
    const post = async (name: string) => {
      const response = await service.call('POST', '/livekit/webhook', {
        ...mediaWebhook(roomFinished(name)),
        signing: false,
      });
      if (response.status === 200) acknowledged.push(name);
      else refused.push(name);
      return response;
    };
    for (let index = 0; index < 20; index += 1) await post(`before-${index}`);
    const filler = join(disk, 'filler');
    fill(filler);
    let latest = await post('first');
    for (let index = 0; latest.status === 200 && index < 2_000; index += 1)
      latest = await post(`filling-${index}`);
    for (let index = 0; index < 50; index += 1) await post(`full-${index}`);
    expect(latest.status).toBe(503);
    expect(latest.json).toMatchObject({ type: 'urn:problem-type:rtc:storage-unavailable' });
    expect(refused.length).toBeGreaterThan(0);
    const registering = await service.call('POST', '/v1/webhooks', { body: { url: receiver.url } });
    expect([registering.status, registering.text.includes('full')]).toEqual([503, true]);
    expect((await service.call('GET', '/v1/webhooks')).status).toBe(200);
    expect((await service.call('GET', '/v1/health')).status).toBe(200);

    unlinkSync(filler);
    for (const name of refused.splice(0)) await post(name);
    expect(refused).toEqual([]);
    await expect
      .poll(() => acknowledged.filter((name) => !listArrived(receiver).has(`/ ${name}`)), { timeout: 60_000 })
      .toEqual([]);
    await untilNonePending(service, id);
    // Nothing that was refused was stored: the arrived events are the acknowledged ones.
    expect(listArrived(receiver).size).toBe(new Set(acknowledged).size);
  }, 120_000);
});

function fill(path: string): void {
  const block = Buffer.alloc(65_536);
  try {
    for (;;) appendFileSync(path, block);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
}
