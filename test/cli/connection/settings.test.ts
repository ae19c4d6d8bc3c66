import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { json, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

let server: TestHttpServer;
let home: string;
let config: string;
beforeAll(async () => {
  server = await startHttpServer(({ method }, response) => {
    if (method === 'DELETE') response.writeHead(204).end();
    else json(response, 200, { rooms: [] });
  });
});
afterAll(() => server.close());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rtc-cli-home-'));
  config = join(home, 'rtc', 'config.json');
});
afterEach(() => rm(home, { recursive: true, force: true }));

function rtc(line: string, options: RunOptions = {}): Promise<Run> {
  return run(line.split(' '), {
    ...options,
    env: { XDG_CONFIG_HOME: home, PATH: process.env.PATH ?? '', ...options.env },
  });
}

/** Returns the API key of the last request that the server received. */
const lastKey = (): unknown => server.received.at(-1)?.headers['x-api-key'];

async function addProfile(name: string, key: string, more = '--secret-stdin'): Promise<Run> {
  return rtc(`profile add ${name} --url ${server.url} --api-key ${key} ${more}`, {
    stdin: `secret-of-${name}\n`,
  });
}

describe('settings', () => {
  it('come from flag, environment, current profile, in that order', async () => {
    await addProfile('one', 'key-profile');
    await rtc('rooms list');
    expect(lastKey()).toBe('key-profile');
    await rtc('rooms list', { env: { API_KEY: 'key-api' } });
    expect(lastKey()).toBe('key-api');
    await rtc('rooms list', { env: { API_KEY: 'key-api', RTC_API_KEY: 'key-rtc' } });
    expect(lastKey()).toBe('key-rtc');
    await rtc('rooms list --api-key key-flag', { env: { RTC_API_KEY: 'key-rtc' } });
    expect(lastKey()).toBe('key-flag');
  });

  it('of a profile that --profile names come before the environment', async () => {
    await addProfile('one', 'key-one');
    await addProfile('two', 'key-two');
    const env = { RTC_API_KEY: 'key-env', RTC_URL: 'http://127.0.0.1:9' };
    expect((await rtc('rooms list --profile two', { env })).code).toBe(0);
    expect(lastKey()).toBe('key-two');
    for (const line of [
      '--profile=two rooms list',
      'rooms --profile two list',
      'rooms --profile=two --no-color ls',
      '--profile two rooms list --',
      '--profile two rooms --no-color delete --yes -- --profile',
    ]) {
      await rtc('rooms list --profile one');
      expect((await rtc(line, { env })).code, line).toBe(0);
      expect(lastKey(), line).toBe('key-two');
    }
    expect(server.received.at(-1)).toMatchObject({ method: 'DELETE', url: '/v1/rooms/--profile' });
    await rtc('rooms list', { env: { RTC_PROFILE: 'two' } });
    expect(lastKey()).toBe('key-two');
  });

  it('that are all in the environment need no profile, whichever RTC_PROFILE names', async () => {
    await addProfile('one', 'key-one');
    const env = { RTC_URL: server.url, RTC_API_KEY: 'key-env', RTC_API_SECRET: 's' };
    for (const RTC_PROFILE of ['one', 'nobody']) {
      const { code, stderr } = await rtc('rooms list', { env: { ...env, RTC_PROFILE } });
      expect([code, lastKey()], stderr).toEqual([0, 'key-env']);
    }
    const { code } = await rtc('rooms list', { env: { ...env, RTC_URL: '', RTC_PROFILE: 'nobody' } });
    expect(code).toBe(2);
  });

  it('that are missing cause an authentication error, before anything is sent', async () => {
    const before = server.received.length;
    const { code, stderr } = await rtc('rooms list', { env: { RTC_URL: server.url } });
    expect(code).toBe(4);
    expect(stderr).toContain('no API key and no API secret');
    expect(stderr).toContain('Next:  run: rtc profile add NAME');
    expect(server.received).toHaveLength(before);
  });

  it.each(['key\r', 'key\nmore', '“key”'])('refuse the key %j, and do not show it', async (key) => {
    const env = { RTC_URL: server.url, RTC_API_KEY: key, RTC_API_SECRET: 's' };
    const { code, stderr } = await rtc('rooms list', { env });
    expect(code).toBe(4);
    expect(stderr).toContain('the API key (RTC_API_KEY) has a character that a header cannot contain');
    expect(stderr).not.toContain(key);
  });

  it.each(['nonsense', 'ftp://x', 'http://u:p@x'])('refuse the address %s', async (url) => {
    const { code, stderr } = await rtc('rooms list', {
      env: { RTC_URL: url, API_KEY: 'k', API_SECRET: 's' },
    });
    expect(code).toBe(2);
    expect(stderr).not.toContain('u:p');
  });
});

describe('a profile', () => {
  it('is kept for its owner alone', async () => {
    await addProfile('one', 'key');
    expect((await stat(config)).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, 'rtc'))).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(config, 'utf8'))).toEqual({
      current: 'one',
      profiles: { one: { url: server.url, apiKey: 'key', apiSecret: 'secret-of-one' } },
    });
  });

  it.each([
    ['file', 0o640],
    ['file', 0o604],
    ['directory', 0o750],
  ])('in a %s of mode %o is refused with the remedy', async (what, mode) => {
    await addProfile('one', 'key');
    const path = what === 'file' ? config : join(home, 'rtc');
    await chmod(path, mode);
    const { code, stderr } = await rtc('rooms list');
    expect(code).toBe(1);
    expect(stderr).toContain(`chmod ${what === 'file' ? '600' : '700'} ${path}`);
  });

  it.each([0o700, 0o400])('in a file of mode %o, which nobody else may read, is used', async (mode) => {
    await addProfile('one', 'key');
    await chmod(config, mode);
    expect((await rtc('profile list')).code).toBe(0);
  });

  it('in a folder with a space in its name is refused with a command that a shell accepts', async () => {
    const env = { XDG_CONFIG_HOME: join(home, 'my config') };
    const path = join(env.XDG_CONFIG_HOME, 'rtc', 'config.json');
    const line = `profile add one --url ${server.url} --api-key key --secret-stdin`;
    expect((await rtc(line, { env, stdin: 'secret\n' })).code).toBe(0);
    await chmod(path, 0o640);
    expect((await rtc('rooms list', { env })).stderr).toContain(`Next:  run: chmod 600 '${path}'\n`);
  });

  it.each([
    ['no JSON', '{"apiSecret":"hush'],
    ['no profiles', '{}'],
    ['a profile without a key', '{"profiles":{"x":{"url":"http://h","apiSecret":"hush"}}}'],
    [
      'two secrets',
      '{"profiles":{"x":{"url":"http://h","apiKey":"k","apiSecret":"hush","apiSecretFile":"f"}}}',
    ],
  ])('in a file with %s is refused without showing it', async (_what, text) => {
    await mkdir(join(home, 'rtc'), { mode: 0o700 });
    await writeFile(config, text, { mode: 0o600 });
    const { code, stderr } = await rtc('rooms list');
    expect(code).toBe(1);
    expect(stderr).toContain(`${config} is broken`);
    expect(stderr).not.toContain('hush');
  });

  it('may name a command or a file for its secret', async () => {
    const file = join(home, 'secret');
    await writeFile(file, 'from-file\n');
    await addProfile('file', 'key-file', `--secret-file ${file}`);
    await run(
      [
        'profile',
        'add',
        'command',
        '--url',
        server.url,
        '--api-key',
        'key-command',
        '--secret-command',
        'echo from-command',
      ],
      { env: { XDG_CONFIG_HOME: home } },
    );
    const { signatureHeaders } = await import('../../support/sign.ts');
    for (const name of ['file', 'command']) {
      expect((await rtc(`rooms list --profile ${name}`)).code).toBe(0);
      const { method = '', url = '', headers } = server.received.at(-1) ?? {};
      const timestamp = String(headers?.['x-service-timestamp']);
      const expected = signatureHeaders(
        { method, path: url },
        { apiKey: '', apiSecret: `from-${name}`, timestamp },
      );
      expect(headers?.['x-service-signature']).toBe(expected['X-Service-Signature']);
    }
    expect(await readFile(config, 'utf8')).not.toMatch(/from-(?:file|command\\n)"/);
  });

  it('whose secret command fails or prints nothing causes an error that says so', async () => {
    const add = (command: string): Promise<Run> =>
      run(
        ['profile', 'add', 'x', '--yes', '--url', server.url, '--api-key', 'k', '--secret-command', command],
        {
          env: { XDG_CONFIG_HOME: home },
        },
      );
    await add('exit 3');
    expect(await rtc('rooms list')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('ended with 3'),
    });
    await add('true');
    expect(await rtc('rooms list')).toMatchObject({ code: 4, stderr: expect.stringContaining('no secret') });
  });

  it('is shown and listed with its key and secret masked', async () => {
    await addProfile('one', 'key-of-some-length');
    const shown = await rtc('profile show --json');
    expect(JSON.parse(shown.stdout)).toEqual({
      name: 'one',
      url: server.url,
      apiKey: 'key-***',
      apiSecret: '***',
      current: true,
    });
    expect((await rtc('profile list')).stdout).toBe(`one\t${server.url}\tkey-***\t***\ttrue\n`);
  });

  it('is chosen, replaced with --yes and removed', async () => {
    await addProfile('one', 'key-1');
    expect((await addProfile('two', 'key-2')).stderr).toContain('rtc profile use two');
    expect((await rtc('profile use two')).code).toBe(0);
    await rtc('rooms list');
    expect(lastKey()).toBe('key-2');
    expect((await addProfile('two', 'key-3')).code).toBe(2);
    expect((await addProfile('two', 'key-3', '--secret-stdin --yes')).code).toBe(0);
    expect((await rtc('profile remove two')).code).toBe(2);
    expect((await rtc('profile rm two --yes')).stderr).toContain('No profile is the current one');
    expect((await rtc('profile use two')).code).toBe(3);
    expect((await rtc('rooms list --profile two')).stderr).toContain('choose from one');
  });

  it('is removed with others, one of which does not exist', async () => {
    await addProfile('one', 'key-1');
    await addProfile('two', 'key-2');
    const { code, stderr } = await rtc('profile remove one nobody two --yes');
    expect(code).toBe(3);
    expect(stderr).toMatch(/nobody: there is no profile "nobody"/);
    expect(stderr).toContain('Removed one, two.');
    expect((await rtc('profile list')).stdout).toBe('');
    expect((await rtc('profile remove nobody')).code).toBe(3);
  });

  it.each(['', 'a b', '../x', '-x', '__proto__', 'x'.repeat(65)])('is not called "%s"', async (name) => {
    const argv = ['profile', 'add', '--url', server.url, '--api-key', 'k', '--secret-stdin', '--', name];
    const { code } = await run(argv, { env: { XDG_CONFIG_HOME: home }, stdin: 's' });
    expect(code).toBe(2);
  });

  it('takes no secret as an argument', async () => {
    const { code, stderr } = await rtc('profile add x --api-secret hush');
    expect(code).toBe(2);
    expect(stderr).not.toContain('hush');
  });
});
