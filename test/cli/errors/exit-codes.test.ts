import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodeOfError } from '../../../src/cli/errors/describe-error.ts';
import { ERROR_CODES, PROBLEMS } from '../../../src/contract/errors.ts';
import { json, problem, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

const NOW_MS = 1_767_225_600_000;

let server: TestHttpServer;
let handler: Parameters<typeof startHttpServer>[0];
beforeAll(async () => {
  server = await startHttpServer((...all) => handler(...all));
});
afterAll(() => server.close());

function rtc(line: string, options: RunOptions = {}): Promise<Run> {
  const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's', ...options.env };
  return run(line.split(' '), { clock: () => NOW_MS, ...options, env });
}

/** The exit codes as design/cli.md defines them, independent of the table in the code. */
function expectedExit(status: number): number {
  if (status === 400 || status === 413) return 2;
  if (status === 404) return 3;
  if (status === 401 || status === 403) return 4;
  if (status === 409) return 5;
  if (status === 503 || status === 429 || status === 408) return 6;
  return 1;
}

describe('the exit code', () => {
  it.each(ERROR_CODES.map((code) => [code, expectedExit(PROBLEMS[code].status)] as const))(
    'of %s is %i',
    async (code, expected) => {
      handler = (_request, response) => problem(response, PROBLEMS[code].status, code);
      const { code: exit, stdout, stderr } = await rtc('recordings start demo');
      expect([exit, stdout]).toEqual([expected, '']);
      expect(exitCodeOfError(code)).toBe(expected);
      // One line with the cause and the request id, and one line with what to do next. A wrong secret has one cause.
      expect(stderr).toMatch(
        code === 'invalid-signature'
          ? /^Error: the API secret does not belong to the API key\nNext: {2}\S.*\n$/
          : /^Error: detail of [\w-]+ \(request request-1\)\nNext: {2}\S.*\n$/,
      );
    },
  );

  it.each([400, 401, 403, 409, 413, 418, 429, 500, 503])(
    "of a proxy's page with status %i is that of the status",
    async (status) => {
      handler = (_request, response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>no</h1>');
      };
      expect((await rtc('recordings start demo')).code).toBe(expectedExit(status));
    },
  );

  it.each([502, 504])('of a proxy whose service does not respond (%i) is 6', async (status) => {
    handler = (_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>no</h1>');
    };
    expect((await rtc('recordings start demo')).code).toBe(6);
  });

  it.each([
    ['a page that is not there', 404, 'text/html', '<h1>Not found</h1>'],
    ['JSON that is not there', 404, 'application/json', '{"error":"not found"}'],
    [
      'a problem of its own',
      404,
      'application/problem+json',
      '{"type":"about:blank","title":"Not Found","status":404,"detail":"no route"}',
    ],
    ['a page', 200, 'text/html', '<h1>Welcome</h1>'],
    ['an empty object', 200, 'application/json', '{}'],
    ['an object of another shape', 200, 'application/json', '{"hello":"world"}'],
    ['an array', 200, 'application/json', '[]'],
  ])('of another service that responds with %s is 1', async (_what, status, type, body) => {
    handler = (_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    };
    for (const line of [
      'rooms list',
      'rooms get demo',
      'rooms create demo',
      'rooms delete demo --yes',
      'participants list demo',
      'tokens create --room demo --identity ada --role host',
      'recordings start demo',
      'recordings status demo',
      'recordings list',
      'ingress list demo',
      'transcription get demo',
      'transcriptions list',
      'webhooks list',
      'webhooks get wh_1',
      'events list',
    ]) {
      const { code, stderr, stdout } = await rtc(line);
      expect([line, code, stdout]).toEqual([line, 1, '']);
      expect(stderr).toContain('is not this service');
      expect(stderr).not.toMatch(/Invalid time value|undefined|rtc itself/);
    }
  });

  it('is 6 when nothing listens on the address, with what to do', async () => {
    const { code, stderr } = await rtc('rooms list', { env: { RTC_URL: 'http://127.0.0.1:9' } });
    expect(code).toBe(6);
    expect(stderr).toMatch(/^Error: http:\/\/127\.0\.0\.1:9 cannot be reached.*\nNext: {2}.*rtc doctor/);
  });

  it('is 6 when a service does not respond within --request-timeout, and the error says so', async () => {
    handler = () => undefined;
    const { code, stderr } = await rtc('rooms list --request-timeout 1s');
    expect(code).toBe(6);
    expect(stderr).toMatch(/did not respond in time[\s\S]*--request-timeout/);
    for (const line of ['rooms list --request-timeout 0', '--request-timeout=soon rooms list']) {
      const refused = await rtc(line);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/^Error: --request-timeout "(0|soon)" is not a duration/);
    }
  });

  it('is 8 when --wait ends while the transcription is pending', async () => {
    let nowMs = NOW_MS;
    handler = (request, response) => {
      nowMs += 600;
      const stopped = {
        egressId: 'EG_1',
        roomId: 'demo',
        status: 'stopped',
        stoppedAt: '2026-01-01T00:00:00.000Z',
      };
      // The recording was stopped, but its file is not complete yet.
      const recording = {
        recordingId: 'EG_1',
        roomId: 'demo',
        status: 'stopped',
        endedAt: null,
        error: null,
      };
      json(response, 200, request.method === 'POST' ? stopped : recording);
    };
    const { code, stdout, stderr } = await rtc('recordings stop demo --wait --timeout 1s', {
      clock: () => nowMs,
    });
    expect([code, stdout]).toEqual([8, '']);
    expect(stderr).toContain('still waiting for the file of EG_1');
  });

  it('is that of the response that arrived within --wait, however short', async () => {
    let reads = 0;
    handler = (request, response) => {
      const recording = { recordingId: 'EG_1', roomId: 'demo', status: 'stopped', error: null, file: null };
      const times = {
        startedAt: null,
        mediaStartedAt: null,
        stoppedAt: null,
        durationMs: null,
        sizeBytes: null,
      };
      if (request.method === 'POST') {
        json(response, 200, { egressId: 'EG_1', roomId: 'demo', status: 'stopped' });
        return;
      }
      reads += 1;
      json(response, 200, {
        ...recording,
        ...times,
        endedAt: reads < 2 ? null : '2026-01-01T00:00:00.000Z',
      });
    };
    const { code, stderr } = await rtc('recordings stop demo --wait --timeout 1s', { clock: Date.now });
    expect([code, reads], stderr).toEqual([0, 2]);
  });

  it('is 8 when --wait ends during the first or the second of two waits', async () => {
    let nowMs = NOW_MS;
    const requests: string[] = [];
    handler = (request, response) => {
      nowMs += 600;
      requests.push(request.method);
      const stopped = { recordingId: 'EG_1', roomId: 'demo', status: 'stopped' };
      if (request.method === 'GET' && request.url.includes('/recordings/')) json(response, 200, stopped);
      else if (request.method === 'GET') json(response, 200, { status: 'processing', progress: 0 });
      else if (requests.length === 1) problem(response, 409, 'recording-not-finished');
      else json(response, 202, { transcriptionId: 'tr_1', recordingId: 'EG_1', status: 'queued' });
    };
    const { code, stderr } = await rtc('transcriptions create EG_1 --wait --timeout 2s', {
      clock: () => nowMs,
    });
    expect(code).toBe(8);
    expect(stderr).toContain('still waiting for tr_1 to be completed after 2s');
    expect(requests).toEqual(['POST', 'GET', 'POST', 'GET']);
  });

  it('is 130 when cancelled during a request', async () => {
    const stop = new AbortController();
    handler = () => stop.abort();
    const { code, stdout, stderr } = await rtc('rooms list', { signal: stop.signal });
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/^Cancelled: /);
  });

  it('is 130 when cancelled while stdin is read', async () => {
    const stop = new AbortController();
    const reading = rtc('tokens inspect -', { signal: stop.signal, isStdinOpen: true });
    setImmediate(() => stop.abort());
    const { code, stdout } = await reading;
    expect([code, stdout]).toEqual([130, '']);
  });

  it('is 130 when cancelled while waiting', async () => {
    const stop = new AbortController();
    handler = (request, response) => {
      const stopped = {
        egressId: 'EG_1',
        roomId: 'demo',
        status: 'stopped',
        stoppedAt: '2026-01-01T00:00:00.000Z',
      };
      json(
        response,
        200,
        request.method === 'POST'
          ? stopped
          : { isRecording: true, egressId: 'EG_1', startedAt: null, mediaStartedAt: null },
      );
      if (request.method === 'GET') setImmediate(() => stop.abort());
    };
    const { code } = await rtc('recordings stop demo --wait', { signal: stop.signal });
    expect(code).toBe(130);
  });
});

describe('an error', () => {
  it('of the clock has the number of seconds and the direction', async () => {
    const serverTime = NOW_MS / 1000 + 412;
    handler = (_request, response) => problem(response, 403, 'timestamp-out-of-window', { serverTime });
    const { stderr } = await rtc('rooms list');
    expect(stderr).toContain("Next:  your clock is 412 s behind the server's; correct it (NTP)");
    handler = (_request, response) =>
      problem(response, 403, 'timestamp-out-of-window', { serverTime: NOW_MS / 1000 - 500 });
    expect((await rtc('rooms list')).stderr).toContain('500 s ahead of');
  });

  it('says when to try again', async () => {
    handler = (_request, response) =>
      problem(response, 429, 'rate-limited', { headers: { 'retry-after': '33' } });
    expect((await rtc('rooms list')).stderr).toContain('Next:  try again in 33 s');
  });

  it('with --json is the problem of the service, with the next step and the exit code, on stderr', async () => {
    handler = (_request, response) => problem(response, 404, 'room-not-found', { extra: [1] });
    const { code, stdout, stderr } = await rtc('rooms get demo --json');
    expect([code, stdout]).toEqual([3, '']);
    expect(JSON.parse(stderr)).toEqual({
      type: 'urn:problem-type:rtc:room-not-found',
      title: 'Title',
      status: 404,
      detail: 'detail of room-not-found',
      extra: [1],
      next: 'see which rooms are open: rtc rooms list',
      exitCode: 3,
    });
  });

  it('of our own with --json is a problem too', async () => {
    const { stderr } = await rtc('rooms get --json');
    expect(JSON.parse(stderr)).toMatchObject({
      type: 'urn:problem-type:rtc:cli:usage',
      detail: 'missing ROOM',
      next: 'see: rtc rooms get --help',
      exitCode: 2,
    });
  });

  it('cannot act on the terminal', async () => {
    handler = (_request, response) =>
      problem(response, 500, 'internal-error', { detail: 'x\u001b[2Jy\nNext:  pay' });
    const { stderr } = await rtc('rooms get demo', { terminals: ['stderr'], env: { NO_COLOR: '1' } });
    expect(stderr).toContain('x\\u001b[2Jy\\nNext:  pay');
    expect(stderr.split('\n')).toHaveLength(3);
  });

  it.each([
    ['romms list', "unknown command 'romms', did you mean rooms?"],
    ['particpants list', 'did you mean participants?'],
    ['rooms lst', 'did you mean'],
    ['rooms list --wacth', 'did you mean --watch?'],
    ['xyzzy', "unknown command 'xyzzy'\n"],
    ['constructor', "unknown command 'constructor'\n"],
    ['--frobnicate', "unknown option '--frobnicate'"],
    ['help environmet', 'did you mean environment?'],
  ])('suggests what was meant by %s', async (line, expected) => {
    const { code, stdout, stderr } = await rtc(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(expected);
    expect(stderr).toMatch(/\nNext: {2}see: rtc .*--help\n$/);
  });
});
