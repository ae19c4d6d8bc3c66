import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { run } from '../support/run.ts';

let server: TestHttpServer;
beforeAll(async () => {
  server = await startHttpServer((_request, response) =>
    json(response, 201, { id: 'wh_1', secret: 's3cret' }),
  );
});
afterAll(() => server.close());

function rtc(line: string) {
  const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
  return run(line.split(' '), { env });
}

describe('JSON with chosen fields', () => {
  let lists: TestHttpServer;
  beforeAll(async () => {
    const recording = {
      ...{ recordingId: 'EG_1', roomId: 'demo', status: 'stopped', startedAt: null, mediaStartedAt: null },
      ...{ stoppedAt: null, endedAt: null, durationMs: null, sizeBytes: null, error: null, file: null },
    };
    const bodies: Readonly<Record<string, object>> = {
      '/v1/rooms': { rooms: [{ name: 'demo', metadata: '', creationTime: '0', creationTimeMs: '0' }] },
      '/v1/recordings': { recordings: [recording], nextCursor: 'more' },
      '/v1/recordings/EG_1': recording,
      '/v1/webhooks': { webhooks: [] },
    };
    lists = await startHttpServer(({ url = '' }, response) =>
      json(response, 200, bodies[url.split('?', 1)[0] ?? ''] ?? {}),
    );
  });
  afterAll(() => lists.close());

  it.each([
    ['rooms list', 'name', { rooms: [{ name: 'demo' }] }],
    [
      'recordings list --limit 1',
      'recordingId',
      { recordings: [{ recordingId: 'EG_1' }], nextCursor: 'more' },
    ],
    ['recordings get EG_1', 'roomId', { roomId: 'demo' }],
    ['webhooks list', 'id', { webhooks: [] }],
  ])('has the same shape as without them: %s', async (line, field, expected) => {
    const env = { RTC_URL: lists.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const chosen = await run([...line.split(' '), '--json', field], { env });
    expect(JSON.parse(chosen.stdout)).toEqual(expected);
    const whole = await run([...line.split(' '), '--json'], { env });
    expect(JSON.parse(whole.stdout)).toMatchObject(expected);
  });
});

describe('a misspelt --json field', () => {
  it.each([
    'rooms create demo --json nmae',
    'rooms delete demo --yes --json name',
    'participants remove demo ada --yes --json identity',
    'tokens create --room demo --identity ada --role host --json tokn',
    'recordings start demo --json egresId',
    'recordings stop demo --json file',
    'recordings stop demo --wait --json stoped',
    'ingress create demo --json streamkey',
    'transcription start demo --json id',
    'transcriptions create EG_1 --json id',
    'webhooks create https://example.org/hook --json secrte',
    'webhooks rotate wh_1 --yes --json secrte',
    'webhooks update wh_1 --events * --json uri',
    'webhooks test wh_1 --json ok',
    'webhooks replay wh_1 --json count',
    'rooms list --json nmae',
  ])('is refused before anything is sent: %s', async (line) => {
    const before = server.received.length;
    const { code, stdout, stderr } = await rtc(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--json has the unknown field');
    expect(server.received).toHaveLength(before);
  });

  it('of rtc api does not hide the response to a request that may have changed something', async () => {
    const { code, stdout, stderr } = await rtc('api POST /v1/webhooks --data {} --json secrte');
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ id: 'wh_1', secret: 's3cret' });
    expect(stderr).toContain('known fields: id, secret');
  });
});
