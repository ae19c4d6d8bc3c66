import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  RECORDER_IMAGE,
  type RecorderSettings,
  recorders,
} from '../../../../src/server/dev/add-ons/recorder.ts';
import type { ChildSettings } from '../../../../src/server/dev/binaries/child-process.ts';
import { createLog } from '../../../../src/server/platform/pino-log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-recorder-'));
  await mkdir(join(folder, 'recordings'), { mode: 0o700 });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function install(name: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, '#!/bin/sh\nexit 0\n');
  await chmod(path, 0o755);
  return path;
}

const MEDIA = {
  kind: 'livekit',
  url: 'ws://127.0.0.1:7880',
  redisUrl: 'redis://:pass@127.0.0.1:6380/2',
} as const;

/** Returns the arguments and environments with which the recorders are started. */
async function startAll(changed: Partial<RecorderSettings> = {}): Promise<readonly ChildSettings[]> {
  const started: ChildSettings[] = [];
  const addOns = await recorders({
    environment: { PATH: folder, XDG_RUNTIME_DIR: '/run/user/1', A_SECRET: 'hunter2' },
    dataDir: folder,
    recordingDir: join(folder, 'recordings'),
    media: MEDIA,
    apiKey: 'key',
    apiSecret: 'secret-of-the-media-server',
    supervisor: {
      start: (settings) => {
        started.push(settings);
        return { name: '', pid: 1, ended: new Promise(() => {}), close: async () => {} };
      },
    },
    log: createLog('fatal'),
    ...changed,
  });
  for (const { start } of addOns) start('truncate');
  return started;
}

async function startedWith(changed?: Partial<RecorderSettings>): Promise<ChildSettings> {
  const [settings] = await startAll(changed);
  if (settings === undefined) throw new Error('it was not started');
  return settings;
}

describe('the recorder of rtc dev', () => {
  it('gets the media server, its key and its Redis, and nothing else of the environment', async () => {
    await install('egress');
    const { env, args, stop } = await startedWith();
    expect(JSON.parse(env?.EGRESS_CONFIG_BODY ?? '')).toMatchObject({
      api_key: 'key',
      api_secret: 'secret-of-the-media-server',
      ws_url: 'ws://127.0.0.1:7880',
      redis: { address: '127.0.0.1:6380', password: 'pass', db: 2 },
    });
    expect(Object.keys(env ?? {}).toSorted()).toEqual(['EGRESS_CONFIG_BODY', 'PATH', 'XDG_RUNTIME_DIR']);
    expect(args).toEqual([]);
    expect(env?.PATH, 'it starts itself again by its name').toMatch(new RegExp(`^${folder}:`));
    expect(stop?.signal, 'running recordings get their file').toBe('SIGINT');
  });

  it('is two workers with a port and a log each, so that a small machine records and broadcasts', async () => {
    await install('egress');
    const started = await startAll();
    const configurations = started.map(({ env }) => JSON.parse(env?.EGRESS_CONFIG_BODY ?? ''));
    expect(new Set(configurations.map((configuration) => configuration.template_port)).size).toBe(2);
    expect(started.map(({ logFile }) => basename(logFile))).toEqual(['egress.log', 'egress-2.log']);
    for (const { cpu_cost } of configurations)
      expect(cpu_cost.room_composite_cpu_cost).toBe(Math.min(2, availableParallelism()));
  });

  it.runIf(process.platform === 'linux')(
    'writes from a container into the recording folder, its secret in no argument',
    async () => {
      await install('docker');
      const { args } = await startedWith();
      const recordingDir = join(folder, 'recordings');
      expect(args).toEqual([
        ...['run', '--rm', '--network', 'host', '--env', 'EGRESS_CONFIG_BODY'],
        ...['--volume', `${recordingDir}:${recordingDir}`, RECORDER_IMAGE],
      ]);
      expect((await stat(recordingDir)).mode & 0o777).toBe(0o777);
    },
  );

  it.runIf(process.platform === 'linux')('keeps the mode of a folder that RECORDING_DIR names', async () => {
    await install('docker');
    const existing = join(folder, 'recordings', 'theirs');
    await mkdir(existing, { mode: 0o750 });
    await startedWith({ recordingDir: existing });
    expect((await stat(existing)).mode & 0o777).toBe(0o750);
  });

  it('is missing without Redis, and beside an external media server', async () => {
    await install('egress');
    await expect(startedWith({ media: { ...MEDIA, redisUrl: undefined } })).rejects.toMatchObject({
      hint: { text: expect.stringContaining('install redis-server') },
    });
    await expect(startedWith({ media: { ...MEDIA, kind: 'external' } })).rejects.toMatchObject({
      hint: { command: 'rtc help recorder' },
    });
  });
});
