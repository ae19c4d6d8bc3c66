import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/server/app/create-store.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { segment } from '../../server/transcription/support/transcription-stage.ts';
import { failPending } from '../../server/webhooks/support/fail-pending.ts';
import { respondWith, startReceiver } from '../../server/webhooks/support/receiver.ts';
import { collectingLog } from '../../support/app.ts';
import { type EventStack, startEventStack } from '../support/event-stack.ts';
import { run } from '../support/run.ts';
import { LEAVE, Top, type TopOptions } from '../support/top.ts';

let stack: EventStack;
let home: string;
let top: Top | undefined;
beforeAll(async () => {
  stack = await startEventStack();
  home = await mkdtemp(join(tmpdir(), 'rtc-top-'));
});
afterAll(async () => {
  await stack.close();
  await rm(home, { recursive: true, force: true });
});
afterEach(async () => {
  top?.pty.kill('SIGKILL');
  top = undefined;
  const rooms = (await stack.rtc('rooms list')).stdout
    .split('\n')
    .map((line) => line.split('\t', 1)[0] ?? '');
  for (const room of rooms.filter((name) => name !== '')) await stack.rtc(`rooms delete ${room} --yes`);
});

function open(words: readonly string[] = [], options: Partial<TopOptions> = {}): Top {
  top = new Top(words, { env: stack.environment, home, ...options });
  return top;
}

describe('rtc top', () => {
  it('shows rooms and people, and follows them by events', async () => {
    await stack.join('demo', 'ada');
    const shown = open();
    await shown.shows(/> demo +1/);
    await shown.shows(/PEOPLE 1 in demo[\s\S]*ada +ada/);
    await stack.join('demo', 'bob');
    await stack.join('second', 'eve');
    await shown.shows(/> demo +2[\s\S]*second +1/);
    await shown.shows(/bob +bob/);
    await stack.leave('demo', 'bob');
    await shown.shows(/> demo +1/);
    for (const line of shown.screen().split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    shown.type('q');
    expect(await shown.ended).toBe(0);
    expect(shown.raw.trimEnd().endsWith(LEAVE)).toBe(true);
  });

  it('begins with the stored events, and explains its keys', async () => {
    await stack.join('demo', 'ada');
    await stack.media.control.webhooksSettled();
    const shown = open([], { rows: 40 });
    await shown.shows(/EVENTS, newest first ─+[\s\S]*participant_joined +demo {2}ada[\s\S]*room_created/);
    shown.type('?');
    await shown.shows(/x +remove the person, or close the room/);
    expect(shown.screen()).not.toContain('EVENTS');
    shown.type('x');
    await shown.shows(/EVENTS, newest first/);
    shown.type('q');
    expect(await shown.ended).toBe(0);
  });

  it('mutes the selected participant, and removes one only after a yes', async () => {
    await stack.join('demo', 'ada');
    stack.media.control.publish('demo', 'ada');
    const shown = open();
    await shown.shows(/ada +ada +on/);
    shown.type('\tm');
    await shown.shows(/ada is muted/);
    await shown.shows(/ada +ada +muted/);
    shown.type('x');
    await shown.shows(/Remove ada from demo\? y\/n/);
    shown.type('n');
    await shown.shows(/nothing was changed/);
    expect((await stack.rtc('participants list demo')).stdout).toContain('ada');
    shown.type('x');
    await shown.shows(/Remove ada/);
    shown.type('y');
    await shown.shows(/ada was removed from demo/);
    expect((await stack.rtc('participants list demo')).stdout).toBe('');
  });

  it('starts and stops a recording', async () => {
    await stack.join('demo', 'ada');
    const shown = open();
    await shown.shows(/> demo/);
    shown.type('r');
    await shown.shows(/Recording demo: EG_/);
    await shown.shows(/● rec/);
    shown.type('s');
    await shown.shows(/Stop the recording of demo\? y\/n/);
    shown.type('y');
    await shown.shows(/of demo was stopped/);
    await shown.shows(/recording 0/);
    expect(shown.screen()).not.toContain('● rec');
  });

  it('shows failed deliveries first, and sends one again', async () => {
    const receiver = await startReceiver(respondWith(500));
    const { stdout } = await stack.rtc(
      `webhooks create ${receiver.url}/hook --events participant_joined --json id`,
    );
    const { id } = JSON.parse(stdout);
    await stack.join('demo', 'ada');
    await receiver.waitFor(() => true);
    await expect.poll(() => failPending(stack.dataDir)).toBe(1);
    receiver.behave(respondWith(200));
    await stack.join('demo', 'bob');
    const shown = open();
    await shown.shows(/failed +participant_joined[^\n]*\n[^\n]*delivered +participant_joined/);
    await shown.shows(/ failed 1 /);
    shown.type('p');
    await shown.shows(/choose a delivery first: Tab leads there/);
    shown.type('\t\t');
    await shown.shows(/> DELIVERIES/);
    shown.type('p');
    await shown.shows(/dlv_\w+ is sent again/);
    const [failed, , again] = await receiver.waitFor(() => true, 3);
    expect(again?.body).toEqual(failed?.body);
    await shown.shows(/ failed 0 /);
    await stack.rtc(`webhooks delete ${id} --yes`);
    await receiver.close();
  });

  it('shows the last caption, and marks everybody who speaks', async () => {
    for (const identity of ['ada', 'bob', 'eve']) await stack.join('demo', identity);
    const database = { sqlitePath: join(stack.dataDir, 'rtc.sqlite') };
    const store = await openStore({ database, clock: systemClock, log: collectingLog([]) });
    const now = Date.now();
    const owner = 'stt-live';
    const worker = { kind: 'stt-live', workerId: owner, languages: ['en'], failedModels: [] } as const;
    await store.transcriptions.beat({ ...worker, aliveUntil: now + 3_600_000 });
    const started = JSON.parse((await stack.rtc('transcription start demo --partial-results --json')).stdout);
    const claim = { owner, now, leaseUntil: now + 3_600_000, limit: 1, supports: () => true };
    await store.transcriptions.claimLive(claim);
    const said = (identity: string, endedAt: number) =>
      segment(`seg_${identity}`, { identity, trackId: `TR_${identity}`, startedAt: now - 30_000, endedAt });
    // An interim result is as recent as its speech. It shows that somebody is still speaking.
    await store.transcriptions.addSegments(started.transcriptionId, owner, [said('eve', now - 20_000)]);
    await store.transcriptions.putInterims(started.transcriptionId, owner, {
      segments: [said('ada', now - 10_000), said('bob', now - 9_000)],
      updatedAt: now + 3_600_000,
    });
    const shown = open([], { env: { ...stack.environment, LANG: 'C' } });
    await shown.shows(/> demo +3 [^\n]*Ada Lovelace: Text of seg_bob/);
    await shown.shows(/ada +ada[^\n]*\*/);
    await shown.shows(/bob +bob[^\n]*\*/);
    expect(shown.screen()).not.toMatch(/eve +eve[^\n]*\*/);
    await store.transcriptions.retire(owner);
    await store.close();
  });

  it('changes nothing with --read-only', async () => {
    await stack.join('demo', 'ada');
    const shown = open(['--read-only']);
    await shown.shows(/ada +ada/);
    shown.type('x');
    await shown.shows(/nothing is changed: rtc top was started with --read-only/);
    expect((await stack.rtc('rooms get demo')).code).toBe(0);
  });

  it('requires the name of a protected profile before it destroys anything', async () => {
    await stack.join('demo', 'ada');
    const { RTC_URL = '', RTC_API_KEY = '', RTC_API_SECRET = '' } = stack.environment;
    const words = [
      'profile',
      'add',
      'prod',
      '--url',
      RTC_URL,
      '--api-key',
      RTC_API_KEY,
      '--secret-stdin',
      '--protected',
      '--yes',
    ];
    expect((await run(words, { env: { XDG_CONFIG_HOME: home }, stdin: RTC_API_SECRET })).code).toBe(0);
    const shown = open(['--profile', 'prod'], { env: {} });
    await shown.shows(/\(protected\)[\s\S]*> demo/);
    shown.type('x');
    await shown.shows(/Delete room demo, with 1 people in it\? Type prod and Enter:/);
    shown.type('y\r');
    await shown.shows(/nothing was changed/);
    shown.type('xprod\r');
    await shown.shows(/Room demo was deleted/);
    expect((await stack.rtc('rooms get demo')).code).toBe(3);
  });

  it('redraws when the size changes, shows events if there is space, and reports when there is too little', async () => {
    await stack.join('demo', 'ada');
    const shown = open();
    await shown.shows(/> demo/);
    expect(shown.screen()).not.toContain('EVENTS');
    shown.pty.resize(200, 60);
    await shown.shows(/EVENTS, newest first/);
    await stack.join('demo', 'bob');
    await shown.shows(/participant_joined +demo +bob/);
    shown.pty.resize(30, 8);
    await shown.shows(/^too small/);
  });

  it('is stopped by Ctrl-Z and continued like other programs', async () => {
    await stack.join('demo', 'ada');
    const shown = open();
    await shown.shows(/> demo/);
    shown.type('\u001a');
    const readState = async () => (await readFile(`/proc/${shown.pty.pid}/stat`, 'utf8')).split(') ')[1]?.[0];
    await expect.poll(readState).toBe('T');
    await expect.poll(() => shown.raw.endsWith(LEAVE)).toBe(true);
    await stack.join('demo', 'bob');
    process.kill(shown.pty.pid, 'SIGCONT');
    await shown.shows(/> demo +2/);
    shown.type('q');
    expect(await shown.ended).toBe(0);
  });

  it('restores the terminal at SIGTERM', async () => {
    const shown = open();
    await shown.shows(/ROOMS 0/);
    process.kill(shown.pty.pid, 'SIGTERM');
    expect(await shown.ended).toBe(0);
    expect(shown.raw.trimEnd().endsWith(LEAVE)).toBe(true);
  });

  it('waits for a service that is unavailable, and shows that', async () => {
    await stack.join('demo', 'ada');
    const shown = open();
    await shown.shows(/> demo/);
    await stack.stopService();
    await shown.shows(/waiting for the service/);
    await stack.startService();
    await stack.join('demo', 'bob');
    await shown.shows(/> demo +2/);
  });

  it('has no colours with NO_COLOR, and plain characters when the locale has no others', async () => {
    await stack.join('demo', 'ada');
    const shown = open([], { env: { ...stack.environment, NO_COLOR: '1', LANG: 'C' } });
    await shown.shows(/> demo/);
    expect(shown.raw).not.toMatch(/\u001b\[[\d;]*m/);
    expect(shown.screen()).toMatch(/^[ -~\n]*$/);
  });

  it('shows hostile names as text', async () => {
    stack.media.control.join('demo', { identity: 'ada', name: 'a\u202eb\u001b[2Jc\u0007' });
    await stack.media.control.webhooksSettled();
    const shown = open();
    await shown.shows(/ada +a\\u202eb\\u001b\[2Jc/);
    expect(shown.raw).not.toContain('\u202e');
    expect(shown.raw).not.toContain('b\u001b[2Jc');
  });

  it('refuses to draw without a terminal', async () => {
    const { code, stderr } = await stack.rtc('top');
    expect([code, stderr]).toEqual([2, expect.stringContaining('rtc events tail')]);
  });
});
