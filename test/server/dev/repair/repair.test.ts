import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import {
  IMAGES,
  type MediaWorkerKind,
  repair,
  workerFile,
} from '../../../../src/server/dev/repair/repair.ts';
import { type Livekit, startLivekit } from '../../../support/parts/livekit.ts';
import { type Redis, startRedis } from '../../../support/parts/redis.ts';

let redis: Redis;
let livekit: Livekit;
beforeAll(async () => {
  redis = await startRedis();
  livekit = await startLivekit({ redis });
});
afterAll(async () => {
  await livekit?.close();
  await redis?.close();
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-repair-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SECRET = 'a "secret" of: the # media server';
const inFolder = (name: string): string => join(folder, 'data', name);

function fix({ missing = [], connectTimeoutMs = 1, ...set }: Fix = {}) {
  const environment = {
    PATH: folder,
    API_KEY: 'key',
    API_SECRET: 'secret',
    LIVEKIT_URL: 'ws://127.0.0.1:7880',
    LIVEKIT_API_KEY: 'media-key',
    LIVEKIT_API_SECRET: 'media-secret',
    REDIS_URL: redis.url,
    DATA_DIR: join(folder, 'data'),
    ...set.environment,
  };
  return repair({ environment, missing, connectTimeoutMs, signal: new AbortController().signal });
}
type Fix = {
  readonly missing?: readonly MediaWorkerKind[];
  readonly connectTimeoutMs?: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
};

/** Installs a container engine that records its arguments. */
async function installDocker(script: string): Promise<() => Promise<string>> {
  const log = join(folder, 'docker.log');
  const path = join(folder, 'docker');
  const lines = ['#!/bin/sh', `echo "$@ [$EGRESS_CONFIG_BODY$INGRESS_CONFIG_BODY]" >> ${log}`, script];
  await writeFile(path, `${lines.join('\n')}\n`);
  await chmod(path, 0o755);
  return () => readFile(log, 'utf8');
}

describe('rtc doctor --fix', () => {
  it('makes the folders and writes both files, for their owner alone', async () => {
    const repairs = await fix();
    expect(repairs.map(({ subject, status }) => [subject, status])).toEqual([
      ['data folder', 'done'],
      ['recording folder', 'done'],
      ['egress.yaml', 'done'],
      ['ingress.yaml', 'done'],
    ]);
    const common = {
      api_key: 'media-key',
      api_secret: 'media-secret',
      ws_url: 'ws://127.0.0.1:7880',
      redis: { address: new URL(redis.url).host },
    };
    expect(parse(await readFile(inFolder('egress.yaml'), 'utf8'))).toMatchObject(common);
    expect(parse(await readFile(inFolder('ingress.yaml'), 'utf8'))).toEqual({
      ...common,
      rtmp_port: 1935,
      whip_port: 8080,
    });
    for (const [name, mode] of [
      ['', 0o700],
      ['egress.yaml', 0o600],
      ['ingress.yaml', 0o600],
    ] as const) {
      expect((await stat(inFolder(name))).mode & 0o777).toBe(mode);
    }
  });

  it('changes nothing the second time, and renames a file with other keys', async () => {
    await fix();
    expect((await fix()).map(({ status }) => status)).toEqual(Array(4).fill('unchanged'));
    const before = await readFile(inFolder('egress.yaml'), 'utf8');
    await fix({ environment: { LIVEKIT_API_SECRET: 'another' } });
    expect(parse(await readFile(inFolder('egress.yaml'), 'utf8'))).toMatchObject({ api_secret: 'another' });
    expect(await readFile(inFolder('egress.yaml.former'), 'utf8')).toBe(before);
  });

  it("writes no file without the media server's Redis, and reports that", async () => {
    const repairs = await fix({ environment: { REDIS_URL: undefined }, missing: ['egress'] });
    expect(repairs.slice(2)).toMatchObject([
      { subject: 'egress.yaml', status: 'not done', detail: 'REDIS_URL is not set' },
      { subject: 'ingress.yaml', status: 'not done' },
    ]);
  });

  it('reports what is needed without a container engine, or without an image', async () => {
    expect((await fix({ missing: ['egress'] })).at(-2)).toMatchObject({
      subject: 'egress container',
      status: 'not done',
      next: 'how to run one: rtc help recorder',
    });
    await installDocker('[ "$1" != image ]');
    expect((await fix({ missing: ['ingress'] })).at(-1)).toMatchObject({
      detail: `docker does not have the image ${IMAGES.ingress}`,
      next: `download it, then run this again: docker pull ${IMAGES.ingress}`,
    });
  });

  it('starts missing workers with their files in the environment, and waits until they are connected', async () => {
    const readArguments = await installDocker('exit 0');
    const socket = connect(Number(new URL(redis.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write('SUBSCRIBE EgressInternal|StartEgress|REQ\r\n');
    await once(socket, 'data');
    const repairs = await fix({ missing: ['egress'], connectTimeoutMs: 20_000 });
    expect(repairs.map(({ subject }) => subject)).toContain('egress container');
    expect(repairs.find(({ subject }) => subject === 'egress container')).toMatchObject({ status: 'done' });
    const lines = await readArguments();
    expect(lines).toContain('rm --force rtc-egress []');
    expect(lines).toContain('run --detach --name rtc-egress --restart unless-stopped --pull never');
    expect(lines).toContain('[api_key: "media-key"');
    expect(lines.replaceAll(/\[[^\]]*\]/g, '')).not.toContain('media-secret');
  });

  it('names the log when a container does not connect', async () => {
    await installDocker('exit 0');
    expect((await fix({ missing: ['ingress'] })).at(-1)).toMatchObject({
      status: 'not done',
      next: 'see why: docker logs rtc-ingress',
    });
  });

  it('uses the images of compose.yaml', () => {
    const compose = readFileSync(join(import.meta.dirname, '../../../../compose.yaml'), 'utf8');
    for (const image of Object.values(IMAGES)) expect(compose).toContain(`image: ${image}\n`);
  });
});

describe('the file of a worker', () => {
  it('quotes any secret, and allows a small machine to record', () => {
    const livekit = { url: 'ws://m', publicUrl: 'ws://m', apiKey: 'k', apiSecret: SECRET };
    const source = { livekit, redisUrl: 'rediss://user:p%40w@redis:6380/2' };
    expect(parse(workerFile('egress', { ...source, processors: 2 }))).toEqual({
      api_key: 'k',
      api_secret: SECRET,
      ws_url: 'ws://m',
      redis: { address: 'redis:6380', username: 'user', password: 'p@w', db: 2, use_tls: true },
      cpu_cost: { room_composite_cpu_cost: 2 },
    });
    expect(parse(workerFile('egress', { ...source, processors: 4 }))).not.toHaveProperty('cpu_cost');
  });
});
