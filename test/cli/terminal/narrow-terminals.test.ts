import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wrapWords } from '../../../src/cli/terminal/wrap-text.ts';
import { json, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { type Run, run } from '../support/run.ts';

const TERMINAL = { terminals: ['stdin', 'stdout', 'stderr'] } as const;

let server: TestHttpServer;
let served: { readonly status: number; readonly body: object };
beforeAll(async () => {
  server = await startHttpServer((_request, response) => json(response, served.status, served.body));
});
afterAll(() => server.close());

function rtc(argv: readonly string[], columns: number, terminals = [...TERMINAL.terminals]): Promise<Run> {
  const env = { NO_COLOR: '1', RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
  return run(argv, { env, columns, terminals });
}

const problem = (type: string, detail: string) => ({
  type: `urn:problem-type:rtc:${type}`,
  title: 'Unauthorized',
  status: 401,
  detail,
});

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

describe('on a narrow terminal', () => {
  it('an error breaks between words, and continues below its first line', async () => {
    served = {
      status: 401,
      body: problem('invalid-api-key', 'The key is not the one that the service has.'),
    };
    const { stderr } = await rtc(['rooms', 'list'], 40);
    expect(stderr).toBe(
      [
        'Error: The key is not the one that the',
        '       service has',
        'Next:  compare the API key with the',
        "       service's API_KEY:",
        '       rtc profile show',
        '',
      ].join('\n'),
    );
  });

  it('a text breaks at the column after the last one, and not at the last one', async () => {
    served = { status: 404, body: { ...problem('webhook-not-found', 'a'.repeat(26)), status: 404 } };
    const fits = 'Next:  list them: rtc webhooks list';
    expect((await rtc(['webhooks', 'get', 'x'], fits.length)).stderr).toContain(`${fits}\n`);
    expect((await rtc(['webhooks', 'get', 'x'], fits.length - 1)).stderr).toContain(
      'Next:  list them:\n       rtc webhooks list\n',
    );
  });

  it('a command to copy stays on one line', async () => {
    served = { status: 200, body: { participants: [] } };
    const { stderr } = await rtc(['participants', 'list', 'demo'], 40);
    expect(stderr).toBe(
      'Nobody is in demo. Let somebody in:\n  rtc tokens create --room demo --identity ada --role host\n',
    );
  });

  it('the mark below a wrong code stays below it', async () => {
    const { stderr } = await rtc(['cf', 'decode', 'RSSMRA80B01H501X'], 50);
    expect(stderr).toContain(
      '       RSSMRA80B01H501X\n' +
        '                      ^ the check character does\n' +
        '                      not fit the fifteen before\n' +
        '                      it: T would\n',
    );
  });

  it.each([60, 80])('the help fits %i columns', async (columns) => {
    const { stdout } = await rtc(['help', 'all'], columns);
    expect(widest(stdout.slice(stdout.indexOf('Rooms:'), stdout.indexOf('Options:')))).toBeLessThanOrEqual(
      columns,
    );
    expect(stdout.replace(/\s+/g, '')).toContain(
      'webhookscreate|list|get|update|pause|resume|delete|test|deliveries|stats|replay|rotate|verify|listen|trigger' +
        'URLsthatreceiveevents,andtheirdeliverylogs',
    );
  });
});

describe('hints', () => {
  it.each([
    [
      'look: rtc rooms send demo \'{"poll": "open; now"}\' --topic poll, then wait',
      'rtc rooms send demo \'{"poll": "open; now"}\' --topic poll',
    ],
    ['read it (rtc explain "a (long) room"), please', 'rtc explain "a (long) room"'],
    ['none yet: node bin/rtc.js stt install tiny; it takes 1 s', 'node bin/rtc.js stt install tiny'],
    ["the service's answer is in its log: rtc explain x; it isn't lost", 'rtc explain x'],
  ])('keep the command of %s in one line', (hint, command) => {
    for (let width = 20; width < 90; width += 1) {
      const lines = wrapWords(hint, { width, start: 0, indent: 2 }).split('\n');
      expect(lines.filter((line) => line.includes(command))).toHaveLength(1);
    }
  });

  it('of a hundred thousand quotes are wrapped in no time that grows faster', () => {
    const text = `rtc ${"'a' ".repeat(100_000)}`;
    expect(wrapWords(text, { width: 80, start: 0, indent: 2 }).length).toBeGreaterThan(390_000);
  });
});

describe('a list on a narrow terminal', () => {
  const rooms = ['a-room-of-thirty-two-characters-1', 'a-room-of-thirty-two-characters-2'].map((name) => ({
    ...{ sid: `RM_${name.at(-1)}`, name: name.slice(2), creationTime: '0', creationTimeMs: '0' },
    ...{ emptyTimeout: 300, departureTimeout: 20, metadata: '', maxParticipants: 0 },
    ...{ numParticipants: 2, numPublishers: 1, activeRecording: false, activeBroadcast: false },
  }));

  it('has one field per line when a table would cut the names', async () => {
    served = { status: 200, body: { rooms } };
    const { stdout } = await rtc(['rooms', 'list'], 46);
    expect(stdout.split('\n')).toEqual([
      'NAME          room-of-thirty-two-characters-1',
      'PARTICIPANTS  2',
      'RECORDING     -',
      expect.stringMatching(/^CREATED {7}\d/),
      'BROADCAST     -',
      '',
      'NAME          room-of-thirty-two-characters-2',
      'PARTICIPANTS  2',
      'RECORDING     -',
      expect.stringMatching(/^CREATED {7}\d/),
      'BROADCAST     -',
      '',
    ]);
  });

  it('is a table from the width at which its names are whole', async () => {
    served = { status: 200, body: { rooms } };
    const layouts = await Promise.all(
      Array.from({ length: 61 }, async (_, index) => {
        const columns = 20 + index;
        const { stdout } = await rtc(['rooms', 'list'], columns);
        expect(widest(stdout)).toBeLessThanOrEqual(columns);
        if (columns >= 45) for (const { name } of rooms) expect(stdout).toContain(name);
        return stdout.startsWith('NAME                ') ? 'table' : 'records';
      }),
    );
    expect(new Set(layouts.slice(0, layouts.indexOf('table')))).toEqual(new Set(['records']));
    expect(new Set(layouts.slice(layouts.indexOf('table')))).toEqual(new Set(['table']));
  });
});

describe('in a table whose cells continue in the next line', () => {
  const saying = (text: string, speaker = 'ada') => ({
    status: 200,
    body: { transcriptionId: 'tr_1', segments: [{ id: 'seg_1', start: 61.5, speaker, text }] },
  });
  const get = ['transcription', 'get', 'demo'];

  it('words stay whole, and a word that is longer than a line is broken', async () => {
    served = saying(`one two three ${'x'.repeat(30)} four`);
    expect((await rtc(get, 32)).stdout).toBe(
      [
        'START  SPEAKER  TEXT',
        '1:01   ada      one two three',
        `                ${'x'.repeat(16)}`,
        `                ${'x'.repeat(14)}`,
        '                four',
        '',
      ].join('\n'),
    );
  });

  it('a text without spaces is broken by columns, not by characters', async () => {
    served = saying('会議'.repeat(6));
    expect((await rtc(get, 27)).stdout.split('\n').slice(1, 4)).toEqual([
      '1:01   ada      会議会議会',
      '                議会議会議',
      '                会議',
    ]);
  });

  it('each line has the colour of the whole', async () => {
    served = saying('hello', 'Ada Lovelace of London');
    const env = { FORCE_COLOR: '1', RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { stdout } = await run(get, { env, columns: 26, terminals: ['stdout'] });
    for (const words of ['Ada Lovelace', 'of London'])
      expect(stdout).toMatch(new RegExp(`\u001b\\[36m${words}[^\n]*\u001b\\[39m`));
  });

  it.each(['word ', 'x', '会', 'a\u0301', '👩‍👩‍👧'])(
    '300 kB of %j are shown whole, in time that grows with the length and not with its square',
    async (part) => {
      const readText = (bytes: number): string => `${part.repeat(bytes / Buffer.byteLength(part))}.`;
      const measureProcessorTime = async (shown: string) => {
        served = saying(shown);
        const before = process.cpuUsage();
        const { stdout } = await rtc(get, 80);
        const { user, system } = process.cpuUsage(before);
        return { stdout, micros: user + system };
      };
      // A first run compiles and loads code, which must not be counted.
      await measureProcessorTime(readText(30_000));
      const tenth = await measureProcessorTime(readText(30_000));
      const text = readText(300_000);
      const { stdout, micros } = await measureProcessorTime(text);
      expect(micros / tenth.micros).toBeLessThan(40);
      expect(
        stdout
          .split('1:01')
          .at(-1)
          ?.replace(/^ +ada|\s/g, ''),
      ).toBe(text.replace(/\s/g, ''));
    },
  );
});

describe('a watched list', () => {
  const room = (index: number) => ({
    sid: `RM_${index}`,
    name: `room-${index}`,
    creationTime: `${1000 - index}`,
  });
  const watch = async (rows: number): Promise<string> => {
    const stop = new AbortController();
    const env = { NO_COLOR: '1', RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { stdout } = await run(['rooms', 'list', '--watch'], {
      ...{ env, rows, terminals: ['stdout'], signal: stop.signal },
      onStdout: (soFar) => {
        if (soFar.includes('Ctrl-C ends')) stop.abort();
      },
    });
    return stdout.slice(stdout.indexOf('NAME'), stdout.indexOf('\u001b[?25h'));
  };

  it.each([
    [5, ['NAME', 'room-0', 'room-1', '', '1 more · ']],
    [6, ['NAME', 'room-0', 'room-1', 'room-2', '']],
  ])('shows the first rows that fit %i lines, and says how many do not', async (rows, beginnings) => {
    served = { status: 200, body: { rooms: [0, 1, 2].map(room) } };
    const lines = (await watch(rows)).split('\n');
    for (const [index, beginning] of beginnings.entries())
      expect(lines[index]).toMatch(new RegExp(`^${beginning}`));
    expect(lines).toHaveLength(rows);
  });
});

describe('on a terminal of unknown width', () => {
  const room = {
    ...{
      sid: 'RM_1',
      name: 'demo',
      emptyTimeout: 300,
      departureTimeout: 20,
      metadata: '',
      maxParticipants: 0,
    },
    ...{ creationTime: '1767225600', creationTimeMs: '1767225600000', numParticipants: 2, numPublishers: 1 },
    activeRecording: false,
    activeBroadcast: false,
  };

  it('a list is as wide as on one of 80 columns', async () => {
    served = { status: 200, body: { rooms: [room] } };
    const { stdout } = await rtc(['rooms', 'list'], 0);
    expect(stdout).toContain('PARTICIPANTS  RECORDING  CREATED');
    expect(stdout).toBe((await rtc(['rooms', 'list'], 80)).stdout);
  });

  it('an error is broken as on one of 80 columns', async () => {
    served = { status: 401, body: problem('invalid-api-key', 'word '.repeat(30)) };
    const { stderr } = await rtc(['rooms', 'list'], 0);
    expect(widest(stderr)).toBeGreaterThan(70);
    expect(widest(stderr)).toBeLessThanOrEqual(80);
  });
});

describe('elsewhere', () => {
  it('an error is one line with the cause and one with what to do next', async () => {
    served = { status: 401, body: problem('invalid-api-key', 'word '.repeat(30)) };
    const { stderr } = await rtc(['rooms', 'list'], 40, []);
    expect(stderr.trimEnd().split('\n')).toHaveLength(2);
  });
});
