import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Started, startRtc } from '../../cli/support/process.ts';
import { startRedis } from '../../support/parts/redis.ts';
import { freePort } from '../../support/parts/run-part.ts';

/* `rtc dev` as people run it, with the real LiveKit and a worker, in a temporary folder. */

let folder: string;
const running: Started[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-dev-'));
});
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** The cache of the account that runs the tests. It has what is built and installed only once. */
const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');

type Options = {
  readonly argv?: readonly string[];
  readonly cache?: string;
  readonly environment?: Readonly<Record<string, string>>;
};

const STT_POST = ['--with', 'stt-post', '--without', 'stt-live,recorder'];
const FAKE_EGRESS = join(import.meta.dirname, 'add-ons/fake/egress');

const startDev = async (dataDir: string, options: Options = {}): Promise<Started> => {
  const env = {
    HOME: folder,
    XDG_CACHE_HOME: options.cache ?? CACHE,
    DATA_DIR: join(folder, dataDir),
    PORT: String(await freePort()),
    ...options.environment,
  };
  const argv = ['dev', '--media', 'livekit', ...(options.argv ?? STT_POST)];
  const started = startRtc(argv, { env, cwd: folder });
  running.push(started);
  return started;
};

/** Makes a cache that has only the media server. */
const cacheWithoutModels = async (): Promise<string> => {
  const cache = join(folder, 'modelless-cache');
  await mkdir(join(cache, 'rtc-service'), { recursive: true });
  await symlink(join(CACHE, 'rtc-service', 'livekit-server'), join(cache, 'rtc-service', 'livekit-server'));
  return cache;
};

type Process = { readonly pid: number; readonly name: string };

const listProcesses = (dataDir: string): readonly Process[] => {
  const text = readFileSync(join(folder, dataDir, 'dev-processes.json'), 'utf8');
  return (JSON.parse(text) as { readonly started: readonly Process[] }).started;
};

const isAlive = ({ pid }: Process): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const IS_UP = /The service is up[\s\S]*Ctrl-C/;

describe('rtc dev', () => {
  it('restarts a worker or the media server that ends, while everything else continues', async () => {
    const dev = await startDev('restarted', { environment: { A_SECRET: 'hunter2' } });
    await dev.seen(IS_UP);
    const before = listProcesses('restarted');
    if (process.platform === 'linux') {
      const knows = before.filter(({ pid }) =>
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes('hunter2'),
      );
      expect(
        knows.map(({ name }) => name),
        'programs of others get no secret',
      ).toEqual(['stt-post']);
    }
    let after = before;
    for (const killed of ['stt-post', 'livekit-server']) {
      const all = after;
      const pid = all.find(({ name }) => name === killed)?.pid ?? 0;
      process.kill(pid, 'SIGKILL');
      await dev.seen(new RegExp(`${killed} ended \\(SIGKILL\\).*it is started again in 1 s`));
      await vi.waitUntil(() => listProcesses('restarted').length === all.length, 60_000);
      after = listProcesses('restarted');
      const others = (processes: readonly Process[]) => processes.filter(({ name }) => name !== killed);
      expect(others(after)).toEqual(others(all));
      expect(after.find(({ name }) => name === killed)?.pid).not.toBe(pid);
    }

    dev.child.kill('SIGINT');
    expect((await dev.ended).code).toBe(0);
    expect(after.filter(isAlive)).toEqual([]);
    expect(existsSync(join(folder, 'restarted', 'dev-processes.json'))).toBe(false);
  }, 60_000);

  it('leaves no process behind when it is killed, and starts again', async () => {
    const killed = await startDev('killed');
    await killed.seen(IS_UP);
    const started = listProcesses('killed');
    expect(started.map(({ name }) => name)).toEqual(expect.arrayContaining(['livekit-server', 'stt-post']));
    killed.child.kill('SIGKILL');
    const again = await startDev('killed');
    await again.seen(IS_UP);
    expect(started.filter(isAlive)).toEqual([]);
    again.child.kill('SIGINT');
    await again.ended;
  }, 60_000);

  it('ends its children when it is killed and not started again', async () => {
    const killed = await startDev('alone');
    await killed.seen(IS_UP);
    const started = listProcesses('alone');
    expect(started.filter(isAlive)).toEqual(started);
    killed.child.kill('SIGKILL');
    await vi.waitUntil(() => started.filter(isAlive).length === 0, 60_000);
  }, 60_000);

  it('leaves a data directory to the server that runs on it', async () => {
    const first = await startDev('shared');
    await first.seen(IS_UP);
    const started = listProcesses('shared');
    const second = await startDev('shared');
    const { code, stderr } = await second.ended;
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('already runs') });
    expect(started.filter(isAlive)).toEqual(started);
    first.child.kill('SIGINT');
    await first.ended;
  }, 60_000);

  it('gives its media server the Redis of REDIS_URL, whose password nobody sees', async () => {
    const redis = await startRedis('hunter2');
    try {
      const dev = await startDev('redis', { environment: { REDIS_URL: redis.url } });
      await dev.seen(IS_UP);
      expect(listProcesses('redis').map(({ name }) => name)).toEqual(['livekit-server', 'stt-post']);
      expect(readFileSync(join(folder, 'redis', 'livekit.log'), 'utf8')).toContain(redis.address);
      dev.child.kill('SIGINT');
      const { code, stdout, stderr } = await dev.ended;
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain('hunter2');
    } finally {
      await redis.close();
    }
  }, 60_000);

  it('starts speech to text and a recorder if possible, and ends them in order', async () => {
    const dev = await startDev('all', { argv: ['--json'], environment: { EGRESS_PROGRAM: FAKE_EGRESS } });
    await dev.seen(/"addOns"/);
    const started = listProcesses('all');
    expect(started.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['stt-live', 'stt-post', basename(FAKE_EGRESS)]),
    );
    dev.child.kill('SIGINT');
    const { code, stdout } = await dev.ended;
    expect({ code, ready: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      ready: { addOns: ['stt-live', 'stt-post', 'recorder'] },
    });
    expect(started.filter(isAlive)).toEqual([]);
    expect(readFileSync(join(folder, 'all', 'egress.log'), 'utf8')).toContain('ended by SIGINT');
  }, 60_000);

  it('starts without speech to text when no model is installed, and says how to install one', async () => {
    const cache = await cacheWithoutModels();
    const dev = await startDev('modelless-start', { argv: ['--without', 'recorder'], cache });
    await dev.seen(IS_UP);
    dev.child.kill('SIGINT');
    const { code, stdout } = await dev.ended;
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /Speech none: there is no speech model yet; install the small English one: \S+.* stt install moonshine-tiny-en/,
    );
  }, 60_000);

  it('reports what a worker that cannot start is missing, and what to do', async () => {
    const dev = await startDev('without-ffmpeg', { environment: { STT_FFMPEG: '/nowhere/ffmpeg' } });
    const { code, stderr } = await dev.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: "\/nowhere\/ffmpeg" cannot be run/m);
    expect(stderr).toMatch(/^Next: +install ffmpeg, or set STT_FFMPEG/m);
  }, 60_000);

  it('names the model to install before it starts anything', async () => {
    const dev = await startDev('modelless', { cache: join(folder, 'empty-cache') });
    const { code, stderr } = await dev.ended;
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no speech model yet.*\n*.*rtc stt install moonshine-tiny-en/),
    });
    expect(existsSync(join(folder, 'modelless', 'livekit.log'))).toBe(false);
  });
});
