import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Key } from '../../../src/contract/keys.ts';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let configHome: string;
beforeAll(async () => {
  configHome = await mkdtemp(join(tmpdir(), 'rtc-keys-config-'));
  stack = await startStack();
});
afterAll(async () => {
  await stack?.close();
  await rm(configHome, { recursive: true, force: true });
});

const rtc = (line: string, options: Parameters<typeof run>[1] = {}): Promise<Run> =>
  run(line.split(' '), { ...options, env: { ...stack.environment, ...options.env } });
const make = async (line: string): Promise<Key> => {
  const { code, stdout } = await rtc(`keys create ${line} --json`);
  expect(code).toBe(0);
  return JSON.parse(stdout);
};
const as = ({ id, secret = '' }: Key) => ({ env: { RTC_API_KEY: id, RTC_API_SECRET: secret } });

describe('keys', () => {
  it('are created with their secret, listed without it, and revoked', async () => {
    const { stdout, stderr } = await rtc('keys create reports --scope read --scope recordings', {
      terminals: ['stdout', 'stderr'],
    });
    expect(stdout).toMatch(/SECRET\S* +rtcsk_[\w-]{43}\n/);
    expect(stderr).toContain('Keep the secret now: it is not shown again.');
    const [line = ''] = (await rtc('keys list')).stdout.split('\n');
    expect(line).toMatch(/^key_\w+\treports\tread,recordings\tactive\tnever\tall\tnever$/);
    const id = line.split('\t')[0] ?? '';
    expect(await rtc(`keys revoke ${id} --yes`)).toMatchObject({ code: 0, stderr: `Revoked ${id}.\n` });
    expect((await rtc(`keys get ${id} --json status,secret`)).stdout).toBe(
      '{"status":"revoked","secret":null}\n',
    );
    expect((await rtc('keys revoke key_none --yes')).code).toBe(3);
  });

  it('show their scopes, and are refused other requests with exit code 4', async () => {
    const key = await make('dashboard --scope read --valid-for 90d');
    const shown = await rtc('keys get', as(key));
    expect(shown.stdout).toMatch(
      new RegExp(`^ID\t${key.id}\nNAME\tdashboard\nSCOPES\tread\nEXPIRES\t\\d{4}-`),
    );
    expect((await rtc('rooms list', as(key))).code).toBe(0);
    const { code, stderr } = await rtc('rooms create demo', as(key));
    expect(code).toBe(4);
    expect(stderr).toContain(`This needs an API key with the scope rooms; ${key.id} has read`);
    expect(stderr).toContain('rtc keys create NAME --scope rooms');
    expect((await rtc('keys list', as(key))).stderr).toContain('Only the root key');
    expect((await rtc('keys get --json id,isRoot')).stdout).toBe('{"id":"root","isRoot":true}\n');
  });

  it('can be for a part of the rooms, of which the list of rooms shows no others', async () => {
    const key = await make('acme --scope rooms --rooms acme- --limit rooms=1 --limit webhooks=3');
    expect((await rtc(`keys get`, as(key))).stdout).toMatch(
      /ROOMS\tacme-\*\nWEBHOOKS\t0 of 3\n[\s\S]*OPEN ROOMS\t0 of 1\n/,
    );
    expect((await rtc('rooms create acme-1', as(key))).code).toBe(0);
    expect((await rtc('rooms create zeta-1')).code).toBe(0);
    expect((await rtc('rooms list --json name', as(key))).stdout).toBe('{"rooms":[{"name":"acme-1"}]}\n');
    const { code, stderr } = await rtc('rooms create zeta-2', as(key));
    expect(code).toBe(3);
    expect(stderr).toContain(`${key.id} has no room "zeta-2"`);
    expect((await rtc('keys create acme --scope rooms --rooms acme')).code).toBe(2);
    const limited = await rtc('keys create acme --scope rooms --limit room=3');
    expect([limited.code, limited.stderr]).toEqual([2, expect.stringContaining('rooms=NUMBER')]);
  });

  it('for a part of the rooms pass rtc doctor, which skips what is about all rooms', async () => {
    const key = await make('acme --scope admin --rooms acme-');
    const { code, stdout } = await rtc('doctor --json check,status,detail', as(key));
    const checks = JSON.parse(stdout) as readonly Record<string, string>[];
    const of = (name: string) => checks.find(({ check }) => check === name);
    expect(code, stdout).toBe(0);
    expect(of('API key')?.detail).toContain('has the scopes admin for rooms that begin with acme-');
    expect(of('ingress')).toMatchObject({ status: 'skipped', detail: 'needs a key for all rooms' });
  });

  it('can be stored in a profile, which shows their id', async () => {
    const key = await make('profiled --scope read');
    const env = { XDG_CONFIG_HOME: configHome, RTC_URL: '', RTC_API_KEY: '', RTC_API_SECRET: '' };
    const added = await rtc(
      `profile add reader --url ${stack.service.url} --api-key ${key.id} --secret-stdin`,
      { env, stdin: key.secret ?? '' },
    );
    expect(added.code).toBe(0);
    expect((await rtc('keys get --profile reader --json id', { env })).stdout).toBe(`{"id":"${key.id}"}\n`);
    expect((await rtc('profile show reader', { env })).stdout).toContain(key.id);
  });

  it.each([
    ['keys create nothing', '--scope'],
    ['keys create all --scope root', '"root" is not one of read, tokens, rooms'],
    ['keys create short --scope read --valid-for 0s', '--valid-for'],
  ])('are not created by rtc %s', async (line, said) => {
    const { code, stderr } = await rtc(line);
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  it('are named by rtc doctor, which skips what they may not do, and warns before they expire', async () => {
    const listChecks = async (key: Key | undefined) => {
      const { stdout, code } = await rtc('doctor --json', key === undefined ? {} : as(key));
      const checks = JSON.parse(stdout) as { check: string; status: string; detail: string }[];
      return { code, of: (name: string) => checks.find(({ check }) => check === name) };
    };
    expect((await listChecks(undefined)).of('API key')).toMatchObject({
      status: 'ok',
      detail: 'the root key, which may do everything',
    });
    const narrow = await make('narrow --scope webhooks --valid-for 2d');
    const { of } = await listChecks(narrow);
    expect(of('signature')).toMatchObject({ status: 'ok' });
    expect(of('API key')).toMatchObject({ status: 'warning' });
    expect(of('API key')?.detail).toContain(`${narrow.id} (narrow) has the scopes webhooks`);
    expect(of('media server')).toMatchObject({ status: 'ok' });
    expect(of('bucket')).toMatchObject({ status: 'skipped' });
    expect(of('ingress')).toMatchObject({ status: 'skipped' });
  });
});
