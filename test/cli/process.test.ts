import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LAUNCHER } from '../support/parts/built.ts';
import { freePort } from '../support/parts/run-part.ts';
import { json, startHttpServer, type TestHttpServer } from './support/http-server.ts';
import { rtcProcess, startRtc } from './support/process.ts';
import { type Stack, startStack } from './support/stack.ts';

let stack: Stack;
let directory: string;
beforeAll(async () => {
  stack = await startStack();
  directory = await mkdtemp(join(tmpdir(), 'rtc-process-'));
});
afterAll(async () => {
  await stack.close();
  await rm(directory, { recursive: true, force: true });
});

describe('the built rtc', () => {
  it('manages a room of the real service', async () => {
    const { environment: env } = stack;
    expect(await rtcProcess(['rooms', 'create', 'built'], { env })).toMatchObject({ code: 0, stderr: '' });
    expect((await rtcProcess(['rooms', 'list'], { env })).stdout).toMatch(/^built\t0\tfalse\t/);
    expect((await rtcProcess(['rooms', 'delete', 'built'], { env })).code).toBe(2);
    expect(await rtcProcess(['rooms', 'delete', 'built', '-y'], { env })).toMatchObject({
      code: 0,
      stdout: '',
    });
  });

  it('reads a token from a pipe', async () => {
    const argv = ['tokens', 'create', '--room', 'r', '--identity', 'ada', '--role', 'host'];
    const { stdout } = await rtcProcess(argv, { env: stack.environment });
    const inspected = await rtcProcess(['tokens', 'inspect', '--json', 'sub'], { stdin: stdout });
    expect(inspected).toMatchObject({ code: 0, stdout: '{"sub":"ada"}\n' });
  });

  it('colours when forced, through every library', async () => {
    const env = { ...stack.environment, FORCE_COLOR: '1' };
    expect((await rtcProcess(['rooms', 'list', '--nope'], { env })).stderr).toContain('\u001b[31m');
    expect((await rtcProcess(['rooms', 'list', '--nope', '--no-color'], { env })).stderr).not.toContain(
      '\u001b',
    );
  });
});

describe('a reader that closes its pipe', () => {
  let server: TestHttpServer;
  beforeAll(async () => {
    const rooms = Array.from({ length: 20_000 }, (_, index) => ({
      sid: `RM_${index}`,
      name: `room-${index}`,
      creationTime: '1',
    }));
    server = await startHttpServer((_request, response) => json(response, 200, { rooms }));
  });
  afterAll(() => server.close());

  it.each([
    ['a list', ['rooms', 'list']],
    ['JSON', ['rooms', 'list', '--json']],
    ['a stream', ['rooms', 'list', '--watch']],
  ])('of %s causes no error', async (_what, argv) => {
    const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { child, ended } = startRtc(argv, { env });
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  });
});

describe('a reader of a recording', () => {
  let server: TestHttpServer;
  beforeAll(async () => {
    server = await startHttpServer((_request, response) => response.end(Buffer.alloc(4_000_000)));
  });
  afterAll(() => server.close());

  const download = () => {
    const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    return startRtc(['recordings', 'download', 'EG_1', '-'], { env });
  };

  it('that closes its pipe causes no error', async () => {
    const { child, ended } = download();
    child.stdout.once('data', () => child.stdout.destroy());
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  });
});

describe('a stream into a pipe of the shell', () => {
  const EVENT = { id: 'EV_1', event: 'room_started', createdAt: 1_700_000_000, room: { name: 'demo' } };
  let server: TestHttpServer;
  beforeAll(async () => {
    // One event and one room; then nothing more.
    server = await startHttpServer(({ url }, response) => {
      if (url.includes('cursor=c1')) return;
      if (url.startsWith('/v1/events')) json(response, 200, { events: [EVENT], nextCursor: 'c1' });
      else json(response, 200, { rooms: [{ name: 'demo' }], nextCursor: null });
    });
  });
  afterAll(() => server.close());

  const pipeline = (words: string, reader: string) => {
    const rtc = `{ echo $BASHPID >&2; exec "${process.execPath}" "${LAUNCHER}" ${words}; }`;
    const env = { PATH: process.env.PATH, RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    return spawn('bash', ['--norc', '-c', `${rtc} | ${reader}; exit \${PIPESTATUS[0]}`], { env });
  };

  it.each(['events tail --since 1h', 'rooms list --watch'])(
    'ends when its reader is gone, before there is more to print: %s',
    async (words) => {
      const child = pipeline(words, 'head -n 1');
      const [code] = await once(child, 'close');
      expect(code).toBe(0);
    },
  );

  it('ends for its reader when rtc is killed', async () => {
    const child = pipeline('events tail --since 1h', 'cat');
    const isFollowing = once(child.stdout, 'data');
    const [processId] = await once(child.stderr.setEncoding('utf8'), 'data');
    await isFollowing;
    process.kill(Number.parseInt(processId, 10), 'SIGKILL');
    await once(child, 'close');
  });
});

describe('a signal', () => {
  it('cancels a request with 130', async () => {
    let onRequest = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => {
      onRequest = resolve;
    });
    const server = await startHttpServer(() => onRequest());
    const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { child, ended } = startRtc(['rooms', 'list'], { env });
    await isAsked;
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stdout: '' });
    await server.close();
  });

  it('ends a watch with 0', async () => {
    const { child, seen, ended } = startRtc(['rooms', 'list', '--watch'], { env: stack.environment });
    await rtcProcess(['rooms', 'create', 'watched'], { env: stack.environment });
    await seen(/"added".*watched/);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('stops rtc serve in order, with 0', async () => {
    const env = {
      API_KEY: 'k',
      API_SECRET: 's',
      PORT: '0',
      DATA_DIR: join(directory, 'serve'),
      LOG_LEVEL: 'info',
    };
    const { child, seen, ended } = startRtc(['serve'], { env, cwd: directory });
    await seen(/listening/);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('"closed"');
  });
});

describe('rtc serve', () => {
  it('ends with 1 when its DATA_DIR is moved away, and names the file', async () => {
    const dataDir = join(directory, 'moving');
    const port = await freePort();
    const settings = { PORT: `${port}`, DATA_DIR: dataDir, LOG_LEVEL: 'info' };
    const env = { API_KEY: 'k', API_SECRET: 's', ...settings };
    const { seen, ended } = startRtc(['serve'], { env, cwd: directory });
    await seen(/listening/);
    await rename(dataDir, `${dataDir}-away`);
    // The process may have noticed it by itself, and have ended before it responds.
    const noticed = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined);
    expect([503, undefined]).toContain(noticed?.status);
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`Error: ${join(dataDir, 'rtc.sqlite')} was moved, deleted or replaced`);
    expect(stderr).toContain('Next:  put the files of the database back');
  });

  it('reports with --check that DATA_DIR is no folder', async () => {
    const dataDir = join(directory, 'a-file');
    await writeFile(dataDir, '');
    const env = { API_KEY: 'k', API_SECRET: 's', DATA_DIR: dataDir };
    expect(await rtcProcess(['serve', '--check'], { env, cwd: directory })).toMatchObject({
      code: 7,
      stderr: expect.stringContaining(`Error: ${dataDir} cannot be written (ENOTDIR)`),
    });
  });

  it('checks the settings, and names each bad one', async () => {
    const env = { API_KEY: 'k', API_SECRET: 'hush', DATA_DIR: directory };
    expect(await rtcProcess(['serve', '--check'], { env, cwd: directory })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('API_SECRET has 4 characters'),
    });
    const bad = await rtcProcess(['serve', '--check', '--port', '99'], {
      env: { ...env, API_KEY: '', TOKEN_TTL: 'x' },
      cwd: directory,
    });
    expect(bad.code).toBe(7);
    expect(bad.stderr).toMatch(/^Error: .*2 settings are bad\n +\S.*\n +\S.*\nNext: {2}/);
    expect(bad.stderr).toContain('API_KEY');
    expect(bad.stderr).toContain('TOKEN_TTL');
    expect((await rtcProcess(['serve'], { env: {}, cwd: directory })).code).toBe(1);
  });

  it('prints the effective settings, options over the environment, secrets masked', async () => {
    const env = { API_KEY: 'k', API_SECRET: 'hush', DATA_DIR: directory, PORT: '1', HOST: '127.0.0.2' };
    const argv = ['serve', '--print-config', '--port', '4321', '--host', '127.0.0.3'];
    const { code, stdout } = await rtcProcess(argv, { env, cwd: directory });
    expect(code).toBe(0);
    expect(stdout).toContain('PORT=4321\n');
    expect(stdout).toContain('HOST=127.0.0.3\n');
    expect(stdout).toContain('API_SECRET=***\n');
    expect(stdout).not.toContain('hush');
    const selected = await rtcProcess([...argv, '--json', 'PORT,API_SECRET'], { env, cwd: directory });
    expect(JSON.parse(selected.stdout)).toEqual({ PORT: '4321', API_SECRET: '***' });
  });
});

describe('the launcher', () => {
  /** Makes Node report an old version. Programs that the launcher starts do not inherit this. */
  async function pretendOld(version: string): Promise<readonly string[]> {
    const preload = join(directory, `node-${version}.cjs`);
    const versions = `Object.freeze({ ...process.versions, node: '${version}' })`;
    await writeFile(preload, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
    return ['--require', preload];
  }

  it.each(['14.21.3', '20.20.2', '24.14.9', '25.9.0'])(
    'on Node %s runs itself with its own Node',
    async (version) => {
      const nodeArguments = await pretendOld(version);
      const { code, stdout } = await rtcProcess(['version', '--json', 'node'], { nodeArguments });
      expect([code, stdout]).toEqual([0, `{"node":"${process.versions.node}"}\n`]);
    },
  );

  it('passes exit code, stdin and signals through to its own Node', async () => {
    const nodeArguments = await pretendOld('20.20.2');
    expect((await rtcProcess(['rooms', 'nonsense'], { nodeArguments })).code).toBe(2);
    expect((await rtcProcess(['tokens', 'inspect'], { nodeArguments, stdin: 'a.b' })).code).toBe(2);
    const env = stack.environment;
    const { child, seen, ended } = startRtc(['rooms', 'list', '--watch'], { nodeArguments, env });
    await rtcProcess(['rooms', 'create', 'handed-on'], { env });
    await seen(/handed-on/);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  });

  it('ends the process in its own Node when it is killed itself', async () => {
    const nodeArguments = await pretendOld('20.20.2');
    const env = stack.environment;
    await rtcProcess(['rooms', 'create', 'orphaned'], { env });
    const { child, seen, ended } = startRtc(['rooms', 'list', '--watch'], { nodeArguments, env });
    await seen(/orphaned/);
    child.kill('SIGKILL');
    // The output closes when the last process that writes to it has ended.
    expect((await ended).signal).toBe('SIGKILL');
  });

  it.each(['20.20.2', '24.14.9', '25.0.0'])(
    'on Node %s without its own Node explains what is needed',
    async (version) => {
      const launcher = join(directory, version, 'bin', 'rtc.js');
      await mkdir(join(directory, version, 'bin'), { recursive: true });
      await writeFile(join(directory, version, 'package.json'), '{"type":"module"}');
      await copyFile(LAUNCHER, launcher);
      const nodeArguments = await pretendOld(version);
      const { code, stdout, stderr } = await rtcProcess(['version'], { nodeArguments, launcher });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^rtc needs Node 24 \\(24\\.15 .*; this is ${version} .*\\n$`));
    },
  );

  it.each(['24.15.0', '26.0.0', '27.1.0'])('on Node %s runs in that Node', async (version) => {
    const { stdout } = await rtcProcess(['version', '--json', 'node'], {
      nodeArguments: await pretendOld(version),
    });
    expect(stdout).toBe(`{"node":"${version}"}\n`);
  });

  it('keeps compiled code in the cache directory of the user, and works without one', async () => {
    const cache = join(directory, 'cache');
    expect((await rtcProcess(['--help'], { env: { XDG_CACHE_HOME: cache } })).code).toBe(0);
    expect(await readdir(join(cache, 'rtc', 'compile'))).not.toEqual([]);
    const { code, stderr } = await rtcProcess(['--help'], { env: { XDG_CACHE_HOME: LAUNCHER } });
    expect([code, stderr]).toEqual([0, '']);
  });

  it('reports that it is not built', async () => {
    const launcher = join(directory, 'unbuilt', 'bin', 'rtc.js');
    await mkdir(join(directory, 'unbuilt', 'bin'), { recursive: true });
    await writeFile(join(directory, 'unbuilt', 'package.json'), '{"type":"module"}');
    await copyFile(LAUNCHER, launcher);
    expect(await rtcProcess(['version'], { launcher })).toMatchObject({
      code: 1,
      stderr: 'rtc is not built yet; run: npm run build\n',
    });
  });

  it('works in a pipeline of the shell', async () => {
    const script = `"${process.execPath}" "${LAUNCHER}" --help | head -1; exit \${PIPESTATUS[0]}`;
    const child = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(0);
  });

  it('keeps the exit code of its result when nobody reads it', async () => {
    const check = `"${process.execPath}" "${LAUNCHER}" cf check RSSMRA20A01L746X`;
    const child = spawn('bash', ['-c', `${check} | true; exit \${PIPESTATUS[0]}`], { stdio: 'inherit' });
    expect(await once(child, 'close')).toEqual([7, null]);
  });
});
