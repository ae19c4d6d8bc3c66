import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DeliveryList } from '../../../src/contract/deliveries.ts';
import type { RecordingStart } from '../../../src/contract/recordings.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import type { Explanation } from '../../../src/explain/explanation.ts';
import {
  chooseServicePort,
  register,
  startHookedService,
} from '../../server/webhooks/support/hooked-service.ts';
import { respondWith, startReceiver } from '../../server/webhooks/support/receiver.ts';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { type JoinedParticipant, join } from '../../support/parts/participant.ts';
import type { TestService } from '../../support/service.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

const makeEnvironment = ({ url, apiKey, apiSecret }: TestService) => ({
  RTC_URL: url,
  RTC_API_KEY: apiKey,
  RTC_API_SECRET: apiSecret,
});
const explain = (service: TestService, words: readonly string[], options: RunOptions = {}): Promise<Run> =>
  run(['explain', ...words], { ...options, env: { ...makeEnvironment(service), ...options.env } });

async function explained(service: TestService, ...words: readonly string[]): Promise<Explanation> {
  const { stdout, stderr } = await explain(service, [...words, '--json']);
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout);
}
const tells = (service: TestService, room: string) => async (): Promise<readonly string[]> => {
  const { stdout } = await explain(service, [room, '--json']);
  return stdout === '' ? [] : (JSON.parse(stdout) as Explanation).timeline.map(({ text }) => text);
};

describe('rtc explain with the embedded media server', () => {
  let stack: Stack;
  let service: TestService;
  beforeAll(async () => {
    stack = await startStack({ environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    service = stack.service;
  });
  afterAll(() => stack.close());

  it('explains a room whose receiver is down, how to repair it, and what to send again', async () => {
    const receiver = await startReceiver(respondWith(503, 'the database is unavailable'));
    const { id } = await register(service, receiver.url, ['participant_joined', 'room_finished']);
    const attributes = { 'rtc.role': 'host' };
    stack.media.control.join('lesson', { identity: 'ada', name: 'Ada Lovelace', attributes });
    await expect.poll(async () => (await explained(service, 'lesson')).troubles.length).toBe(1);
    const { headline, timeline, troubles, next } = await explained(service, 'lesson');
    expect(headline).toBe('Room lesson is open; 1 person is in it: ada (Ada Lovelace).');
    // A retry may have been made already. It has the same text.
    expect([...new Set(timeline.map(({ text }) => text))]).toEqual([
      'the room was opened',
      'ada (Ada Lovelace) joined as host',
      `webhook ${id} did not accept participant_joined: it responded with 503`,
    ]);
    expect(troubles).toEqual([
      `webhook ${id} (${receiver.url}) does not accept events: 1 delivery is being retried. At the last attempt it responded with 503`,
    ]);
    expect(next.map(({ command }) => command)).toEqual([
      `rtc webhooks test ${id}`,
      'rtc events tail --room lesson',
    ]);

    const { deliveries }: DeliveryList = (await service.call('GET', `/v1/webhooks/${id}/deliveries`)).json;
    const delivery = await explained(service, deliveries[0]?.id ?? '');
    expect(delivery.headline).toMatch(
      /has not been delivered yet, after \d attempts?; the next one is due at/,
    );
    expect(delivery.timeline.slice(0, 2).map(({ text }) => text.replace(/\d+ ms/, 'n ms'))).toEqual([
      'participant_joined in room lesson: ada (Ada Lovelace) joined as host',
      'attempt 1: it responded with 503 "the database is unavailable", after n ms',
    ]);
    expect(delivery.next.map(({ command }) => command)).toEqual([
      `rtc webhooks test ${id}`,
      `rtc wait delivery ${id} ${deliveries[0]?.id}`,
    ]);
    await receiver.close();
    await service.call('DELETE', `/v1/webhooks/${id}`);
  });

  it('tells who waited before the room was opened', async () => {
    await service.call('PUT', '/v1/plans/early', { body: { room: 'early', lobby: true } });
    const body = { roomId: 'early', userId: 'ada', name: 'Ada Lovelace', role: 'participant' };
    const { token } = (await service.call('POST', '/v1/token', { body })).json as Token;
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`${stack.media.url}/embedded/join`, { method: 'POST', headers });
    await stack.media.control.webhooksSettled();
    stack.media.control.join('early', { identity: 'eve', attributes: { 'rtc.role': 'host' } });
    await expect
      .poll(async () => (await tells(service, 'early')()).toSorted())
      .toEqual(['ada (Ada Lovelace) waits to be admitted', 'eve joined as host', 'the room was opened']);
  });

  it('explains why a recording was aborted', async () => {
    await service.call('POST', '/v1/rooms', { body: { name: 'silent' } });
    const { egressId }: RecordingStart = (await service.call('POST', '/v1/rooms/silent/recording/start'))
      .json;
    await service.call('POST', '/v1/rooms/silent/recording/stop');
    await expect
      .poll(async () => (await explained(service, egressId)).headline)
      .toBe(
        `Recording ${egressId} of room silent was aborted: it never received sound or pictures, and has no file.`,
      );
    const { troubles, next } = await explained(service, egressId);
    expect(troubles[0]).toMatch(/^nobody published a track while it ran, so there was nothing to record\./);
    expect(next[0]?.command).toBe('rtc recordings start silent --wait');
    await expect
      .poll(async () => (await explained(service, 'silent')).next.map(({ command }) => command))
      .toContain(`rtc explain ${egressId}`);
  });

  it('explains where the file of a recording is', async () => {
    stack.media.control.join('taped', { identity: 'ada' });
    stack.media.control.publish('taped', 'ada');
    const { egressId }: RecordingStart = (await service.call('POST', '/v1/rooms/taped/recording/start')).json;
    await expect
      .poll(async () => (await explained(service, egressId)).timeline.map(({ text }) => text))
      .toContain('the first frame was recorded');
    expect((await explained(service, egressId)).headline).toContain('is running.');
    expect((await explained(service, 'taped')).headline).toContain(
      'Room taped is open, and is being recorded;',
    );
    await service.call('POST', '/v1/rooms/taped/recording/stop');
    await expect.poll(async () => (await explained(service, egressId)).headline).toContain('is complete');
    expect((await explained(service, egressId)).next).toEqual([
      { text: 'download it', command: `rtc recordings download ${egressId}` },
    ]);
  });

  it('explains a closed room, and does not take it for another one of the same name', async () => {
    stack.media.control.join('twice', { identity: 'ada' });
    await expect.poll(tells(service, 'twice')).toContain('ada joined');
    await service.call('DELETE', '/v1/rooms/twice');
    await expect.poll(tells(service, 'twice')).toContain('the room was closed');
    const { headline, next } = await explained(service, 'twice');
    expect(headline).toMatch(/^Room twice was closed \S+ ago, after \S+ with 1 person, at most 1 at once\.$/);
    expect(next[0]?.command).toMatch(/^rtc sessions participants RM_/);
    stack.media.control.join('twice', { identity: 'bob' });
    await expect.poll(tells(service, 'twice')).toEqual(['the room was opened', 'bob joined']);
  });

  it('fits a terminal of 80 columns, ends with what to do, and escapes hostile names', async () => {
    const hostile = 'eve\u001b[2J\nWrong: nothing';
    stack.media.control.join('hostile', { identity: hostile });
    await expect.poll(tells(service, 'hostile')).toHaveLength(2);
    const options = { terminals: ['stdout'], columns: 80 } as const;
    const { stdout } = await explain(service, ['hostile'], options);
    const lines = stdout.trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.at(-1)).toBe('Next:  watch it: rtc events tail --room hostile');
    expect(stdout).toContain('eve\\u001b[2J\\nWrong: nothing joined');
    const piped = (await explain(service, ['hostile'])).stdout;
    expect(piped).toMatch(/^ {2}\d{4}-\d\d-\d\dT\S+Z {3}the room was opened$/m);
    expect(piped).not.toContain('\u001b');
  });

  it('shows the last moments, and says how to see all', async () => {
    for (const n of [1, 2, 3]) stack.media.control.join('busy', { identity: `p${n}` });
    await expect.poll(tells(service, 'busy')).toHaveLength(4);
    const { stdout } = await explain(service, ['busy', '--limit', '2']);
    expect(stdout).toContain('  … 2 earlier entries: --limit 4\n');
    expect(stdout).not.toContain('p1 joined');
    expect(stdout).toContain('p3 joined');
  });

  it.each([
    ['nowhere', 'rtc sessions list'],
    ['EG_none', 'rtc recordings list'],
    ['dlv_none', 'rtc webhooks list'],
    [
      '6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51',
      "search the service's log for 6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51",
    ],
  ])('ends with 3 for %s, and names where to look', async (subject, step) => {
    const { code, stderr } = await explain(service, [subject]);
    expect([code, stderr]).toEqual([3, expect.stringContaining(step)]);
  });

  it('explains the request that an error named', async () => {
    const refused = await service.call('DELETE', '/v1/rooms/absent');
    const requestId = String(refused.headers['x-request-id']);
    await expect.poll(async () => (await explain(service, [requestId])).code).toBe(0);
    const { headline, troubles, next } = await explained(service, requestId);
    expect(headline).toBe(
      `Request ${requestId}: DELETE /v1/rooms/absent by key root was refused: 404 room-not-found.`,
    );
    expect(troubles).toEqual(['No such room is open on the media server.']);
    expect(next[0]?.command).toBe('rtc explain --as room -- absent');
  });

  it('explains a read that failed', async () => {
    const missing = await service.call('GET', '/v1/recordings/EG_absent');
    const requestId = String(missing.headers['x-request-id']);
    await expect.poll(async () => (await explain(service, [requestId])).code).toBe(0);
    const { headline } = await explained(service, requestId);
    expect(headline).toBe(
      `Request ${requestId}: GET /v1/recordings/EG_absent by key root was refused: 404 recording-not-found.`,
    );
  });

  it('explains a room that is named like an id with --as', async () => {
    stack.media.control.join('EG_room', { identity: 'ada' });
    await expect
      .poll(async () => (await explain(service, ['EG_room', '--as', 'room'])).stdout)
      .toContain('Room EG_room is open; 1 person is in it: ada.');
  });
});

describe('rtc explain with the real media server', () => {
  let livekit: Livekit;
  let service: TestService;
  const joined: JoinedParticipant[] = [];
  beforeAll(async () => {
    const { port, webhookUrl } = await chooseServicePort();
    livekit = await startLivekit({ webhookUrl });
    service = await startHookedService(port, { livekit });
  });
  afterAll(async () => {
    await Promise.all(joined.map((participant) => participant.leave()));
    await service?.close();
    await livekit?.close();
  });

  const makeToken = async (roomId: string, userId: string): Promise<Token> =>
    (
      await service.call('POST', '/v1/token', {
        body: { roomId, userId, name: userId.toUpperCase(), role: 'viewer' },
      })
    ).json;

  it('explains a participant who was blocked and came back, and how to let the participant in', async () => {
    const { url, token } = await makeToken('class', 'eve');
    joined.push(await join(url, token), await join(url, (await makeToken('class', 'ada')).token));
    await expect.poll(tells(service, 'class')).toContain('ada (ADA) joined as viewer');
    await service.call('DELETE', '/v1/rooms/class/participants/eve?block=3600');
    await expect.poll(tells(service, 'class')).toContain('eve (EVE) was removed by the API');
    // A participant that is removed immediately may be gone before its client has connected.
    await join(url, token).then(
      (participant) => void joined.push(participant),
      () => {},
    );
    // Until she is removed again, she is in the room.
    const { timeline, next } = await vi.waitFor(async () => {
      const found = await explained(service, 'class');
      expect(found.headline).toBe('Room class is open; 1 person is in it: ada (ADA).');
      return found;
    }, 120_000);
    expect(timeline.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^eve \(EVE\) was blocked until \d{4}-/),
    );
    expect(next[0]).toEqual({
      text: expect.stringMatching(/^eve \(EVE\) gets no token .*is put out if it comes with an older one/),
      command: 'rtc blocks remove class eve',
    });
  });
});
