import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { Top } from '../support/top.ts';

/* The page of a room, which `rtc top` serves, needs a media server that carries media. */

let livekit: Livekit;
let service: TestService;
let environment: Readonly<Record<string, string>>;
let home: string;
let top: Top | undefined;
beforeAll(async () => {
  livekit = await startLivekit();
  service = await startTestService({ livekit });
  const { url, apiKey, apiSecret } = service;
  environment = { RTC_URL: url, RTC_API_KEY: apiKey, RTC_API_SECRET: apiSecret };
  home = await mkdtemp(join(tmpdir(), 'rtc-top-'));
});
afterAll(async () => {
  await service.close();
  await livekit.close();
  await rm(home, { recursive: true, force: true });
});
afterEach(() => top?.pty.kill('SIGKILL'));

async function open(env: Readonly<Record<string, string>>): Promise<Top> {
  await service.call('POST', '/v1/rooms', { body: { name: 'demo' } });
  top = new Top([], { env, home });
  await top.shows(/> demo/);
  return top;
}

describe('the key o of rtc top', () => {
  it('opens a room in the browser, with a file that is deleted at the end', async () => {
    const [opened, BROWSER] = [join(home, 'opened.html'), join(home, 'browser')];
    await writeFile(BROWSER, `#!/bin/sh\ncp "$1" ${opened}.part && mv ${opened}.part ${opened}\n`, {
      mode: 0o700,
    });
    const TMPDIR = await mkdtemp(join(home, 'tmp-'));
    const shown = await open({ ...environment, BROWSER, TMPDIR });
    shown.type('o');
    await shown.shows(/demo is open in your browser/);
    await expect.poll(() => readFile(opened, 'utf8').catch(() => '')).toMatch(/url=http/);
    const link = /url=([^"]+)"/.exec(await readFile(opened, 'utf8'))?.[1] ?? '';
    expect(await (await fetch(link)).text()).toContain('<!doctype html>');
    expect(await readdir(TMPDIR)).toEqual([expect.stringMatching(/^rtc-open-/)]);
    shown.type('q');
    expect(await shown.ended).toBe(0);
    expect(await readdir(TMPDIR)).toEqual([]);
    await expect(fetch(link)).rejects.toThrow('fetch failed');
  });

  it.each([
    ['where no browser is', { BROWSER: '/nowhere/browser' }],
    ['over SSH', { SSH_CONNECTION: '10.0.0.2 50000 10.0.0.1 22', BROWSER: '/bin/true' }],
  ])('shows the link of a room %s', async (_, env) => {
    const shown = await open({ ...environment, ...env });
    shown.type('o');
    await shown.shows(/Open: http:\/\/127\.0\.0\.1:\d+\/\S+/);
    const [, link = ''] = /Open: (\S+)/.exec(shown.screen()) ?? [];
    expect((await fetch(link)).status).toBe(200);
  });
});
