import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rtcProcess, type Started, startRtc } from '../../cli/support/process.ts';
import { freePort } from '../../support/parts/run-part.ts';

/* The output of `rtc doctor` for an `rtc dev` that has just started for the first time. */

/** The cache of the account that runs the tests. It has what is built only once. */
const XDG_CACHE_HOME = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');

let folder: string;
let dev: Started | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-dev-doctor-'));
});
afterEach(async () => {
  dev?.child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

type Check = { readonly check: string; readonly status: string; readonly detail: string };

async function runDoctor(media: string): Promise<{ readonly code: number | null; readonly checks: Check[] }> {
  const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME };
  const port = String(await freePort());
  dev = startRtc(['dev', '--media', media, '--port', port, '--without', 'stt-live,stt-post,recorder'], {
    env,
    cwd: folder,
  });
  await dev.seen(/Ctrl-C stops it all/);
  const { code, stdout } = await rtcProcess(['doctor', '--probe', '--json'], { env, cwd: folder });
  dev.child.kill('SIGINT');
  expect((await dev.ended).code).toBe(0);
  return { code, checks: JSON.parse(stdout) as Check[] };
}

describe('rtc doctor on a new rtc dev', { timeout: 60_000 }, () => {
  it('notes that the embedded media server receives no streams, and finds no error', async () => {
    const { code, checks } = await runDoctor('embedded');
    expect(code).toBe(0);
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([
      expect.objectContaining({
        check: 'ingress worker',
        status: 'note',
        detail: 'the embedded media server of rtc dev takes no streams',
      }),
      expect.objectContaining({ check: 'add-ons', status: 'note' }),
    ]);
  });

  it('notes that there is neither recorder nor ingress worker, and finds no error', async () => {
    const { code, checks } = await runDoctor('livekit');
    expect(code).toBe(0);
    expect(
      checks.filter(({ status }) => status !== 'ok').map(({ check, status }) => [check, status]),
    ).toEqual([
      ['recorder', 'note'],
      ['ingress worker', 'note'],
      ['recording', 'skipped'],
      ['add-ons', 'note'],
    ]);
    expect(checks.find(({ check }) => check === 'recorder')).toMatchObject({
      detail: 'none is connected: rtc dev found none to start',
      next: expect.stringContaining('rtc help recorder'),
    });
  });
});
