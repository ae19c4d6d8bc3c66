import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { escapeForTerminal, escapeJsonForTerminal } from '../../../src/cli/terminal/terminal.ts';
import { formatRelative, parseDuration } from '../../../src/cli/terminal/time.ts';
import { formatDuration } from '../../../src/contract/amounts.ts';
import { json, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

const NOW_MS = 1_767_225_600_000;
const HOSTILE = 'a\u001b]0;x\u0007\u202eb\tc\nd\\e\u009bf';

const room = (name: string, more: object = {}) => ({
  sid: `RM_${name.length}`,
  name,
  emptyTimeout: 300,
  departureTimeout: 20,
  creationTime: String(NOW_MS / 1000 - 3600),
  creationTimeMs: String(NOW_MS - 3_600_000),
  metadata: '',
  numParticipants: 2,
  maxParticipants: 0,
  numPublishers: 1,
  activeRecording: false,
  activeBroadcast: false,
  ...more,
});

let server: TestHttpServer;
let rooms: object[] = [];
/** A server that responds with one room. */
let single: TestHttpServer;
beforeAll(async () => {
  single = await startHttpServer((_request, response) => json(response, 200, rooms[0]));
  server = await startHttpServer((_request, response) => json(response, 200, { rooms }));
});
afterAll(async () => {
  await server.close();
  await single.close();
});

function list(options: RunOptions = {}, argv: readonly string[] = []): Promise<Run> {
  const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's', ...options.env };
  return run(['rooms', 'list', ...argv], { clock: () => NOW_MS, ...options, env });
}

const TERMINAL: RunOptions = { terminals: ['stdin', 'stdout', 'stderr'] };
const PLAIN_TERMINAL: RunOptions = { ...TERMINAL, env: { NO_COLOR: '1' } };
const ESCAPE = '\u001b[';

describe('on a terminal', () => {
  it('a list is an aligned table with relative times', async () => {
    rooms = [
      room('demo'),
      room('会議', { maxParticipants: 9, activeRecording: true, activeBroadcast: true }),
    ];
    expect((await list(PLAIN_TERMINAL)).stdout).toBe(
      [
        'NAME  PARTICIPANTS  RECORDING  CREATED  BROADCAST',
        'demo  2             -          1 h      -',
        '会議  2 of 9        ● on       1 h      ● on',
        '',
      ].join('\n'),
    );
    expect((await list({ ...PLAIN_TERMINAL, columns: 120 })).stdout).toContain(
      'demo  2             -          1 hour ago  -\n',
    );
  });

  it.each([
    ['of another script', '会'],
    ['of combining marks', 'a\u0301'],
    ['of emoji', '👩‍👩‍👧'],
    ['of spaces', ' '],
    ['of marks on one letter', '\u0301'],
  ])('a text %s is shown whole, and fast, however long it is', async (_kind, part) => {
    const text = `${part.repeat(200_000 / part.length)}.`;
    rooms = [room('demo', { metadata: text })];
    const { stdout } = await run(['rooms', 'get', 'demo'], {
      ...PLAIN_TERMINAL,
      clock: () => NOW_MS,
      env: { ...PLAIN_TERMINAL.env, RTC_URL: single.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' },
    });
    expect(stdout).toContain(text);
    rooms = [room(text)];
    const lines = (await list({ ...PLAIN_TERMINAL, columns: 60 })).stdout.split('\n');
    expect(lines[1]).toMatch(/…? +2 +- +1 h +-$/);
    expect(lines[1]?.length).toBeLessThan(2000);
  });

  it('--debug shows the URL of a recording without the signature that grants access', async () => {
    const location = 'https://bucket.example/demo/a.mp4?X-Amz-Credential=AK&X-Amz-Signature=abcdef0123';
    const redirecting = await startHttpServer((_request, response) =>
      response.writeHead(302, { location }).end(),
    );
    const { stdout, stderr } = await run(['api', 'GET', '/v1/recordings/EG_1/download', '--debug'], {
      ...PLAIN_TERMINAL,
      env: { ...PLAIN_TERMINAL.env, RTC_URL: redirecting.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' },
    });
    expect(stderr).toContain('location: https://bucket.example/demo/a.mp4?***');
    expect(stdout + stderr).not.toContain('abcdef0123');
    await redirecting.close();
  });

  it('an error of a million full stops is printed fast', async () => {
    const detail = `${'. '.repeat(500_000)}x..`;
    const refusing = await startHttpServer((_request, response) =>
      json(response, 400, {
        type: 'urn:problem-type:rtc:invalid-request',
        title: 'Bad Request',
        status: 400,
        detail,
      }),
    );
    const { stderr } = await list({
      ...PLAIN_TERMINAL,
      env: { ...PLAIN_TERMINAL.env, RTC_URL: refusing.url },
    });
    expect(stderr).toMatch(/^Error: [. \n]*x\n/);
    await refusing.close();
  });

  it('the widest column is cut at the end of the terminal', async () => {
    rooms = [room('x'.repeat(200))];
    const lines = (await list({ ...PLAIN_TERMINAL, columns: 60 })).stdout.split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBe(60);
    expect(lines[1]).toMatch(/^x+… +2 +- +1 h +-$/);
  });

  it('a long list has the same columns from its first line to its last', async () => {
    rooms = Array.from({ length: 250 }, (_, index) =>
      room(index === 240 ? 'the-longest-name' : `room-${index}`),
    );
    const lines = (await list(PLAIN_TERMINAL)).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(251);
    expect(new Set(lines.slice(1).map((line) => line.indexOf(' 2 ')))).toEqual(
      new Set(['the-longest-name'.length + 1]),
    );
  });

  it('control characters are shown as escapes', async () => {
    rooms = [room(HOSTILE)];
    const { stdout } = await list({ ...PLAIN_TERMINAL, columns: 100 });
    expect(stdout).toContain('a\\u001b]0;x\\u0007\\u202eb\\tc\\nd\\e\\u009bf');
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u);
  });

  it('JSON is indented and stays the same JSON', async () => {
    rooms = [room(HOSTILE)];
    const { stdout } = await list(PLAIN_TERMINAL, ['--json']);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u);
    expect(JSON.parse(stdout)).toEqual({ rooms });
    expect(stdout).toMatch(/^\{\n {2}"rooms"/);
  });

  it('a watched list is JSON lines without control characters', async () => {
    rooms = [room(HOSTILE)];
    const stop = new AbortController();
    const options = { signal: stop.signal, onStdout: () => stop.abort() };
    const { stdout } = await list({ ...PLAIN_TERMINAL, ...options }, ['--watch', '--json']);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u);
    expect(JSON.parse(stdout)).toMatchObject({ change: 'added', record: { name: HOSTILE } });
  });

  it.each([[[]], [['--json']]])('streamed codes have no control characters: %j', async (words) => {
    const stdin = 'RSSMRA80B\u202e\u009b31m\n';
    const terminals = ['stdout'] as const;
    const { code, stdout } = await run(['cf', 'check', '-', ...words], { stdin, terminals });
    expect(code).toBe(7);
    expect(stdout).toContain('RSSMRA80B\\u202e\\u009b31m');
  });

  it('an empty list of rooms is reported on stderr', async () => {
    rooms = [];
    expect(await list(PLAIN_TERMINAL)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('No room'),
    });
  });
});

describe('elsewhere', () => {
  it('a list is tab-separated, uncut, without a header, with RFC 3339 times', async () => {
    rooms = [room('x'.repeat(300), { activeRecording: true })];
    expect((await list()).stdout).toBe(`${'x'.repeat(300)}\t2\ttrue\t2025-12-31T23:00:00.000Z\tfalse\n`);
  });

  it('a hostile name stays one cell, and can be restored', async () => {
    rooms = [room(HOSTILE)];
    const { stdout } = await list();
    expect(stdout).toBe(
      'a\\u001b]0;x\\u0007\u202eb\\tc\\nd\\\\e\\u009bf\t2\tfalse\t2025-12-31T23:00:00.000Z\tfalse\n',
    );
  });

  it('JSON is one line, byte for byte', async () => {
    rooms = [room(HOSTILE)];
    expect((await list({}, ['--json'])).stdout).toBe(`${JSON.stringify({ rooms })}\n`);
  });
});

describe('colour', () => {
  const coloured = async (options: RunOptions, argv: readonly string[] = []): Promise<boolean> => {
    rooms = [room('demo')];
    return (await list(options, argv)).stdout.includes(ESCAPE);
  };
  it.each([
    ['a terminal', TERMINAL, [], true],
    ['a pipe', {}, [], false],
    ['--no-color', TERMINAL, ['--no-color'], false],
    ['NO_COLOR', { ...TERMINAL, env: { NO_COLOR: '1' } }, [], false],
    ['an empty NO_COLOR', { ...TERMINAL, env: { NO_COLOR: '' } }, [], true],
    ['TERM=dumb', { ...TERMINAL, env: { TERM: 'dumb' } }, [], false],
    ['CLICOLOR=0', { ...TERMINAL, env: { CLICOLOR: '0' } }, [], false],
    ['FORCE_COLOR=0', { ...TERMINAL, env: { FORCE_COLOR: '0' } }, [], false],
    ['--no-color over FORCE_COLOR', { ...TERMINAL, env: { FORCE_COLOR: '1' } }, ['--no-color'], false],
    ['FORCE_COLOR in a pipe', { env: { FORCE_COLOR: '1' } }, [], true],
    ['NO_COLOR over FORCE_COLOR', { ...TERMINAL, env: { NO_COLOR: '1', FORCE_COLOR: '1' } }, [], false],
  ] as const)('is used with %s', async (_what, options, argv, expected) => {
    expect(await coloured(options as RunOptions, argv)).toBe(expected);
  });

  it.each([{ FORCE_COLOR: '1' }, { CLICOLOR_FORCE: '1' }])(
    'is forced by %j without a terminal',
    async (env) => {
      expect((await run(['--help'], { env })).stdout).toContain(ESCAPE);
      expect((await run(['nonsense'], { env })).stderr).toContain(ESCAPE);
    },
  );
});

describe('escaped text', () => {
  it.each([
    '\u200e',
    '\u200f',
    '\u202a',
    '\u202e',
    '\u2066',
    '\u2069',
    '\u061c',
    '\u2028',
    '\ufeff',
    '\u200b',
    '\ud800',
  ])('escapes %j', (character) => {
    const escaped = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    expect(escapeForTerminal(`a${character}b`)).toBe(`a${escaped}b`);
    expect(escapeJsonForTerminal(`"${character}"`)).toBe(`"${escaped}"`);
  });

  it.each(['plain', 'àèìòù', '会議', '👩‍👩‍👧', 'אבג', 'e\u0301'])('leaves %s alone', (text) => {
    expect(escapeForTerminal(text)).toBe(text);
  });
});

describe('durations', () => {
  it.each([
    ['90', 90],
    ['90s', 90],
    ['10m', 600],
    ['1h30m', 5400],
    ['2d', 172_800],
    ['500ms', 0.5],
    ['1.5h', 5400],
  ])('reads %s', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each(['', 'm', '10', ' 10m', '10 m', '-5s', '10mm', '1e3s', '10M'].filter((text) => text !== '10'))(
    'refuses "%s"',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it('prints the two largest units', () => {
    expect([0, 59, 60, 3661, 90_061].map(formatDuration)).toEqual(['0s', '59s', '1m', '1h 1m', '1d 1h']);
  });

  it.each([
    [0, 'just now'],
    [4, 'just now'],
    [5, '5 seconds ago'],
    [59, '59 seconds ago'],
    [60, '1 minute ago'],
    [3599, '1 hour ago'],
    [86_399, '1 day ago'],
    [-3599, 'in 1 hour'],
  ])('formats %i seconds as "%s"', (seconds, expected) => {
    expect(formatRelative(NOW_MS - seconds * 1000, NOW_MS)).toBe(expected);
  });
});
