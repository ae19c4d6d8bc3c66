import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RtcClient } from '../../../src/client/index.ts';
import { ABSENT_MEDIA, postMediaEvent, roomFinished } from '../../server/webhooks/support/media-webhook.ts';
import { startReceiver } from '../../server/webhooks/support/receiver.ts';
import { freePort } from '../../support/parts/run-part.ts';
import { rtcProcess, type Started, startRtc } from '../support/process.ts';

describe('the backup of a running service', () => {
  let directory: string;
  let env: Record<string, string>;
  let started: Started[];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rtc-admin-'));
    started = [];
    env = {
      API_KEY: 'key',
      API_SECRET: 'a-secret-of-more-than-thirty-two-characters',
      LIVEKIT_URL: `ws://127.0.0.1:${await freePort()}`,
      LIVEKIT_API_KEY: ABSENT_MEDIA.apiKey,
      LIVEKIT_API_SECRET: ABSENT_MEDIA.apiSecret,
      DATA_DIR: join(directory, 'data'),
      PORT: `${await freePort()}`,
      LOG_LEVEL: 'info',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    };
  });
  afterEach(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all(started.map(({ ended }) => ended));
    await rm(directory, { recursive: true });
  });

  const start = async () => {
    const service = startRtc(['serve'], { env, cwd: directory });
    started.push(service);
    await service.seen(/listening/);
    return service;
  };
  const rtc = (...argv: readonly string[]) => rtcProcess(argv, { env, cwd: directory });
  const url = () => `http://127.0.0.1:${env.PORT}`;
  const client = () => new RtcClient({ url: url(), apiKey: 'key', apiSecret: env.API_SECRET ?? '' });

  it('has everything that was acknowledged before it, secrets included, when it is made under load and restored after a kill', async () => {
    const receiver = await startReceiver();
    const service = await start();
    const webhook = await client().webhooks.create({ url: `${receiver.url}/hook` });
    const acknowledged: string[] = [];
    let isLoaded = true;
    const load = async (number: number): Promise<void> => {
      for (let count = 0; isLoaded; count += 1) {
        const name = `room-${number}-${count}`;
        if ((await postMediaEvent(url(), roomFinished(name))) === 200) acknowledged.push(name);
      }
    };
    const loads = [1, 2, 3, 4].map(load);
    await expect.poll(() => acknowledged.length).toBeGreaterThan(50);
    const before = [...acknowledged];
    const made = await rtc('admin', 'backup', join(directory, 'backup'), '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({ folder: join(directory, 'backup'), key: 'file' });
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before.length + 10);

    const refused = await rtc('admin', 'restore', join(directory, 'backup'), '--yes');
    expect(refused).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Next:  stop the service and its workers first'),
    });
    isLoaded = false;
    await Promise.all(loads);
    service.child.kill('SIGKILL');
    await service.ended;

    const restored = await rtc('admin', 'restore', join(directory, 'backup'), '--yes', '--json');
    expect(restored).toMatchObject({ code: 0 });
    await start();
    const rooms = new Set<string>();
    for await (const event of client().events.all()) rooms.add(event.room?.name ?? '');
    expect(before.filter((name) => !rooms.has(name))).toEqual([]);
    expect(await client().webhooks.test(webhook.id)).toMatchObject({ delivered: true });
    await receiver.close();
  });

  it("has its clock confirmed by rtc admin confirm-clock, unless LiveKit's clock differs", async () => {
    const livekit = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + days * 86_400_000).toUTCString());
      response.end();
    });
    let days = 1;
    await new Promise<void>((resolve) =>
      livekit.listen(Number(new URL(env.LIVEKIT_URL ?? '').port), resolve),
    );
    try {
      (await start()).child.kill('SIGKILL');
      const refused = await rtc('admin', 'confirm-clock', '--yes');
      expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('set the wrong one') });
      days = 0;
      const confirmed = await rtc('admin', 'confirm-clock', '--yes', '--json');
      expect(Date.parse(JSON.parse(confirmed.stdout).confirmedAt)).toBeGreaterThan(0);
    } finally {
      livekit.close();
    }
  });

  it('is encrypted with a new key by rtc admin reencrypt, unless a running instance has another one in front', async () => {
    const receiver = await startReceiver();
    const [former, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
    env.ENCRYPTION_KEY = former;
    const service = await start();
    const webhook = await client().webhooks.create({ url: `${receiver.url}/hook` });
    env.ENCRYPTION_KEY = `${next},${former}`;
    expect(await rtc('admin', 'reencrypt', '--yes')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('1 of 1 running instances have another key in front'),
    });
    service.child.kill('SIGTERM');
    await service.ended;
    const done = await rtc('admin', 'reencrypt', '--yes', '--json');
    expect(JSON.parse(done.stdout)).toEqual({ webhooks: 1, apiKeys: 0, lost: 0, instances: 0 });
    env.ENCRYPTION_KEY = next;
    await start();
    expect(await client().webhooks.test(webhook.id)).toMatchObject({ delivered: true });
    await receiver.close();
  });

  it('is refused where DATABASE_URL names another database, and where a confirmation is missing', async () => {
    const withUrl = { ...env, DATABASE_URL: 'postgres://rtc:hush@localhost/rtc' };
    const backup = await rtcProcess(['admin', 'backup', 'x'], { env: withUrl, cwd: directory });
    expect(backup).toMatchObject({ code: 5, stderr: expect.stringContaining('pg_dump') });
    expect(backup.stderr).not.toContain('hush');
    expect(await rtc('admin', 'restore', 'x')).toMatchObject({ code: 2 });
    expect(await rtc('admin', 'backup', 'x')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('There is no database'),
    });
    expect(await readdir(directory)).toEqual([]);
  });
});
