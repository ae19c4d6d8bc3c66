import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeError } from '../../../src/cli/errors/describe-error.ts';
import { type Command, commandName, type Parameter } from '../../../src/cli/framework/parameters.ts';
import { REGISTRY } from '../../../src/cli/registry.ts';
import { ServiceError } from '../../../src/contract/errors.ts';
import { HintedError } from '../../../src/contract/hint.ts';
import { json, problem, startHttpServer, type TestHttpServer } from '../support/http-server.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

/*
 * Every error in a command line has one line with the error, lines of detail if there are several errors, and one line with
 * what to do. The first tests try every command with every kind of wrong word, generated from the commands themselves. The
 * others check the exact texts of particular errors.
 */

const CAUSE_AND_STEP = /^Error: \S.*\n(?: {7}.*\n)*Next: {2}\S.*\n$/;

const commands: readonly Command[] = (
  await Promise.all(REGISTRY.map(async (entry) => (await entry.load()).commands))
).flat();

/** Returns a value for each argument and required option, so that only the tested word is wrong. */
function goodWords(command: Command, without?: string): string[] {
  const named = [...Object.entries(command.arguments), ...Object.entries(command.options)];
  return named
    .filter(([name, { isRequired }]) => isRequired && name !== without)
    .flatMap(([, parameter]) => {
      const value = parameter.choices?.[0] ?? '/x';
      return parameter.flags === undefined ? [value] : [longFlag(parameter), value];
    });
}

function longFlag({ flags = '' }: Parameter<unknown>): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? '';
}

const wrongLines = commands.flatMap((command): (readonly string[])[] => {
  const name = commandName(command).split(' ');
  const good = goodWords(command);
  const parameters = Object.entries(command.arguments);
  const hasList = parameters.some(([, { isList }]) => isList);
  const isEmptyRefused = (parameter: Parameter<unknown>): boolean => refuses(parameter, '');
  return [
    [...name, ...good, '--no-such-option'],
    ...(good.length === 0 ? [] : [name]),
    ...(hasList ? [] : [[...name, ...good, ...parameters.map(() => 'more'), 'more', 'still-more']]),
    ...parameters
      .filter(([, parameter]) => isEmptyRefused(parameter))
      .map(([own]) => [...name, ...parameters.map(([other]) => (other === own ? '' : 'x'))]),
    ...Object.values(command.options)
      .filter((option) => option.flags?.includes('<'))
      .flatMap((option) => [
        [...name, ...good, longFlag(option)],
        ...['', '\u0001 nonsense'].flatMap((value) =>
          refuses(option, value) ? [[...name, ...good, `${longFlag(option)}=${value}`]] : [],
        ),
      ]),
  ];
});

function refuses({ parse, checkEach }: Parameter<unknown>, word: string): boolean {
  try {
    (checkEach ?? parse)?.(word);
    return false;
  } catch {
    return true;
  }
}

describe('a wrong command line', () => {
  it('has a test for every command', () => {
    const tried = new Set(wrongLines.map((words) => words[0]));
    expect([...tried].sort()).toEqual(REGISTRY.map(({ noun }) => noun).sort());
    expect(wrongLines.length).toBeGreaterThan(200);
  });

  it.each(wrongLines.map((words) => [words.map((word) => JSON.stringify(word)).join(' '), words] as const))(
    'rtc %s is refused with an explanation and what to do',
    async (_title, words) => {
      const { code, stdout, stderr } = await run(words);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(CAUSE_AND_STEP);
      expect(stderr).not.toMatch(/COMMAND|undefined|\[object/);
      expect((await run([...words, '--json'])).stderr).toMatch(
        /^(?:\{.*"next":"[^"]+.*\}|Error: .*\nNext: .*)\n$/,
      );
    },
  );
});

describe('an invalid argument of', () => {
  it.each<readonly [words: readonly string[], cause: string, next: string]>([
    [['rooms', 'create', ''], 'NAME must not be empty', 'see: rtc rooms create --help'],
    [
      ['rooms', 'create', 'demo', '--empty-timeout', '10x'],
      '--empty-timeout "10x" is not a duration',
      'write it such as 90s, 10m or 1h30m; at least 1 s',
    ],
    [
      ['rooms', 'create', 'my', 'room'],
      'rtc rooms create takes 1 argument, but got 2',
      "quote what holds a space, 'like this'; see: rtc rooms create --help",
    ],
    [['rooms', 'list', 'demo'], 'rtc rooms list takes no argument, but got 1', 'see: rtc rooms list --help'],
    [['rooms', 'create', 'demo', '--metadata'], '--metadata needs a value', 'see: rtc rooms create --help'],
    [
      ['rooms', 'create', 'demo', '--metadata', '@'],
      'there is no file name after @',
      'write @FILE, - for stdin, or @@ for a text that begins with @',
    ],
    [
      ['tokens', 'create', '--room', 'demo', '--role', 'host', '--identity', '-', '--name', '-'],
      '--identity and --name cannot both read stdin',
      'give one of them in another way',
    ],
    [
      ['rooms', 'create', 'demo', '--metadata', '-', '--api-secret-file', '-'],
      '--metadata and --api-secret-file cannot both read stdin',
      'give one of them in another way',
    ],
    [['rooms', 'lst'], "unknown command 'rooms lst', did you mean list?", 'see: rtc rooms --help'],
    [
      ['--profile', 'dev', 'rooms'],
      'rtc rooms needs a verb first: create, list, get, update, send, mute, open, join, waiting, admit, deny, closed, delete',
      'see: rtc rooms --help',
    ],
    [
      ['rooms', '--watch', 'list'],
      'rtc rooms needs a verb first: create, list, get, update, send, mute, open, join, waiting, admit, deny, closed, delete',
      'see: rtc rooms --help',
    ],
    [
      ['rooms', '--profile'],
      'rtc rooms needs a verb first: create, list, get, update, send, mute, open, join, waiting, admit, deny, closed, delete',
      'see: rtc rooms --help',
    ],
    [
      ['rooms', '--profile', 'dev', 'lst'],
      "unknown command 'rooms lst', did you mean list?",
      'see: rtc rooms --help',
    ],
    [['rooms', 'rename'], "unknown command 'rooms rename'", 'see: rtc rooms --help'],
    [['dev', 'jion'], "unknown command 'dev jion', did you mean join?", 'see: rtc dev --help'],
    [
      ['dev', 'join', 'demo', 'ada', '--role', 'king'],
      '--role "king" is not one of host, moderator, participant, viewer',
      'see: rtc dev join --help',
    ],
    [
      ['dev', 'join', 'demo', 'ada', '--role', 'Hots'],
      '--role "Hots" is not one of host, moderator, participant, viewer, did you mean host?',
      'see: rtc dev join --help',
    ],
    [
      ['tokens', 'inspect', 'foo'],
      'this is not an access token (a JWT: three parts of base64url, separated by dots)',
      'pass a whole token: rtc tokens create … | rtc tokens inspect',
    ],
    [
      ['api', 'FOO', '/x'],
      'METHOD "FOO" is not one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'see: rtc api --help',
    ],
    [
      ['api', 'GET', '/v1/rooms/a b#è'],
      'PATH must be percent-encoded: no spaces, no letters outside ASCII, no #',
      'write it such as /v1/rooms/a%20b%23%C3%A8',
    ],
    [['it', 'region'], "unknown command 'it region', did you mean regions?", 'see: rtc it --help'],
    [
      ['cf', 'check', '--file', '/no/such'],
      '/no/such cannot be read: there is no such file',
      'correct the path; a relative one starts at the current folder',
    ],
    [
      ['cf', 'check', '-', '--rejects', '/no/such folder/x'],
      '/no/such folder/x cannot be written: its folder does not exist',
      "make it: mkdir -p '/no/such folder'",
    ],
    [
      ['profile', 'add', 'x', '--url', 'ftp://x'],
      '--url must start with http:// or https://, not ftp://',
      'write it such as http://127.0.0.1:3000',
    ],
    [
      ['help', 'rooms', 'creat'],
      "there is no help for 'rooms creat', did you mean create?",
      'see: rtc rooms --help',
    ],
    [['--profile'], '--profile needs a value', 'see: rtc --help'],
    [['rooms', 'list', '--api-key', ''], '--api-key must not be empty', 'see: rtc rooms list --help'],
    [['rooms', 'list', '--url='], '--url must not be empty', 'see: rtc rooms list --help'],
  ])('rtc %j is explained', async (words, cause, next) => {
    const { code, stderr } = await run(words);
    expect(stderr).toBe(`Error: ${cause}\nNext:  ${next}\n`);
    expect(code).toBe(2);
  });

  it.each<readonly [variable: string, cause: string]>([
    ['foo', 'RTC_URL "foo" is not a URL'],
    ['ftp://h', 'RTC_URL must start with http:// or https://, not ftp://'],
    ['http://u:p@h', 'RTC_URL must not contain a user name or password'],
  ])('RTC_URL=%s names the variable', async (url, cause) => {
    const env = { RTC_URL: url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { code, stderr } = await run(['rooms', 'list'], { env });
    expect(stderr).toBe(`Error: ${cause}\nNext:  write it such as http://127.0.0.1:3000\n`);
    expect(code).toBe(2);
  });

  it('a place names a similar one', async () => {
    const { code, stderr } = await run(['it', 'caps', 'RM', 'Rma']);
    expect(code).toBe(3);
    expect(stderr).toBe(
      'Error: no place of RM is called "Rma"\n       ROMA (RM) H501\nNext:  one of these may be meant; a Belfiore code is always clear\n',
    );
  });

  it('a code is explained once: in words, or on a terminal under the code', async () => {
    const words = ['cf', 'decode', 'RSSMRA80B01H501X'];
    const next = 'Next:  compare it with the card or document that it comes from\n';
    const fault = 'the check character does not fit the fifteen before it';
    expect((await run(words)).stderr).toBe(`Error: that is not a valid codice fiscale: ${fault}\n${next}`);
    const shown = await run(words, { terminals: ['stderr'], env: { NO_COLOR: '1' } });
    expect(shown.stderr.split(fault)).toHaveLength(2);
    expect(shown.stderr).toMatch(/^Error: that is not a valid codice fiscale\n {7}RSSMRA80B01H501X\n {22}\^/);
  });
});

describe('a start that fails', () => {
  it.each([
    [
      new HintedError('Cannot listen on 127.0.0.1:80: that is not allowed', {
        text: 'choose a PORT above 1023',
      }),
      'Error: Cannot listen on 127.0.0.1:80: that is not allowed\nNext:  choose a PORT above 1023\n',
    ],
    [
      new ServiceError('storage-unavailable', 'PostgreSQL at h:5432 has no database "a"', {
        hint: { text: 'create it', command: 'createdb a' },
      }),
      'Error: PostgreSQL at h:5432 has no database "a"\nNext:  create it: createdb a\n',
    ],
    [
      new Error('It is so. PORT is bad.'),
      'Error: It is so. PORT is bad\nNext:  check the settings: rtc serve --check, rtc serve --print-config\n',
    ],
  ])('explains what to do on a line of its own: %s', async (error, expected) => {
    const serve = { serve: () => Promise.reject(error), readSettings: () => ({}) };
    const loaders = { serve: async () => serve };
    const { code, stderr } = await run(['serve'], { loaders });
    expect(stderr).toBe(expected);
    expect(code).toBe(1);
  });
});

describe('a start that fails because of an error', () => {
  it.each([
    [new TypeError('x is not a function'), /bug in rtc/],
    [
      Object.assign(new Error('EROFS'), { code: 'EROFS', path: '/data/x' }),
      /^Error: \/data\/x cannot be used: the file/,
    ],
  ])('of ours or of the disk blames no setting: %s', async (error, expected) => {
    const serve = { serve: () => Promise.reject(error), readSettings: () => ({}) };
    const { code, stderr } = await run(['serve'], { loaders: { serve: async () => serve } });
    expect(stderr).toMatch(expected);
    expect(stderr).not.toContain('--print-config');
    expect(code).toBe(1);
  });
});

describe('an unexpected error', () => {
  it.each([
    [new TypeError('x is not a function'), /bug in rtc/],
    [Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }), /free some space/],
    [Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/p' }), /ls -ld \/p/],
    ['a text', /bug in rtc/],
  ])('%s has a next step too', (error, next) => {
    expect(describeError(error, 0).next).toMatch(next);
  });
});

describe('a request that the service refuses', () => {
  let server: TestHttpServer;
  let handler: Parameters<typeof startHttpServer>[0];
  beforeAll(async () => {
    server = await startHttpServer((...all) => handler(...all));
  });
  afterAll(() => server.close());

  const rtc = (words: readonly string[], options: RunOptions = {}): Promise<Run> =>
    run(words, {
      ...options,
      env: { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's', ...options.env },
    });

  it.each(['#', ''])(
    'because of its whole body (pointer %j) has an error about the body',
    async (pointer) => {
      const errors = [{ pointer, detail: 'is not well-formed JSON' }];
      handler = (_request, response) => problem(response, 400, 'invalid-request', { errors });
      const { code, stderr } = await rtc(['api', 'POST', '/v1/rooms', '-d', '{bad']);
      expect(code).toBe(2);
      expect(stderr).toBe(
        'Error: the body is not well-formed JSON (request request-1)\nNext:  see: rtc api --help\n',
      );
    },
  );

  it('because its path cannot be decoded has a next step too', async () => {
    handler = (_request, response) => problem(response, 404, 'no-active-recording');
    const { code, stderr } = await rtc(['api', 'POST', '/v1/rooms/%zz/recording/stop']);
    expect(code).toBe(3);
    expect(stderr).toContain('Next:  start one: rtc recordings start ROOM\n');
  });

  it('leads to the help of the command that sent it, also of one of several targets', async () => {
    const errors = [{ parameter: 'roomId', detail: 'is too long' }];
    handler = (_request, response) => problem(response, 400, 'invalid-request', { errors });
    const { stderr } = await rtc(['rooms', 'delete', 'a', 'b', '--yes']);
    expect(stderr.match(/Next: {2}see: rtc rooms delete --help\n/g)).toHaveLength(2);
  });

  it('is coloured or not for each of several targets, as requested', async () => {
    handler = (_request, response) => problem(response, 404, 'room-not-found');
    const env = { FORCE_COLOR: '1' };
    expect((await rtc(['rooms', 'rm', 'a', 'b', '--yes'], { env })).stderr).toContain('\u001b[');
    expect((await rtc(['rooms', 'rm', 'a', 'b', '--yes', '--no-color'], { env })).stderr).not.toContain(
      '\u001b[',
    );
  });

  it('because nobody of that name is in the room names who is', async () => {
    const participants = [{ identity: 'ada', tracks: [] }];
    handler = (_request, response) => json(response, 200, { participants });
    for (const words of [
      ['participants', 'mute', 'demo', 'bob'],
      ['dev', 'leave', 'demo', 'bob'],
    ]) {
      const { code, stderr } = await rtc(words);
      expect(stderr).toBe(
        'Error: there is no participant "bob" in room "demo"\nNext:  choose from the participants: ada\n',
      );
      expect(code).toBe(3);
    }
  });
});

describe('a command that a note proposes', () => {
  const NAME = "the lion's den";
  const QUOTED = `'the lion'\\''s den'`;
  let server: TestHttpServer;
  beforeAll(async () => {
    const instant = '2026-01-01T00:00:00.000Z';
    const instants = { startedAt: instant, mediaStartedAt: instant, stoppedAt: instant };
    const handler = {
      name: NAME,
      creationTime: '1',
      roomId: NAME,
      participants: [],
      ingress: [],
      ...instants,
    };
    server = await startHttpServer((_request, response) => json(response, 200, handler));
  });
  afterAll(() => server.close());

  it.each([
    ['rooms create', `rtc tokens create --room ${QUOTED} --identity`],
    ['participants list', `rtc tokens create --room ${QUOTED} --identity`],
    ['recordings start', `rtc recordings stop ${QUOTED}`],
    ['ingress list', `rtc ingress create ${QUOTED}`],
    ['transcription start', `rtc transcription stop ${QUOTED}`],
    ['transcription stop', `rtc transcription get ${QUOTED} --format text`],
  ])('by rtc %s has the name of the room quoted for a shell', async (words, command) => {
    const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's' };
    const { code, stderr } = await run([...words.split(' '), NAME], {
      env,
      terminals: ['stderr'],
      columns: 200,
    });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(command);
  });
});

describe('a list that is longer than requested', () => {
  let server: TestHttpServer;
  beforeAll(async () => {
    const delivery = {
      id: 'dlv_1',
      event: 'room_started',
      status: 'failed',
      attempts: [],
      createdAt: '2026-01-01',
    };
    server = await startHttpServer(({ url }, response, count) => {
      const limit = Number(new URL(url, server.url).searchParams.get('limit'));
      const deliveries = Array.from({ length: limit }, () => delivery);
      json(response, 200, { deliveries, nextCursor: `c${count}` });
    });
  });
  afterAll(() => server.close());

  it.each([
    [[], 50, 'There are more: --limit 100\n'],
    [['--limit', '201'], 201, 'There are more: --limit 402\n'],
    [['--limit', '5001'], 5001, 'There are more: --limit 10000\n'],
    [['--limit', '10000'], 10_000, 'There are more; choose among them.\n'],
  ])('%j says how to see more, as far as possible', async (words, count, note) => {
    const env = { RTC_URL: server.url, RTC_API_KEY: 'k', RTC_API_SECRET: 's', NO_COLOR: '1' };
    const argv = ['webhooks', 'deliveries', 'wh_1', ...words];
    const { stdout, stderr } = await run(argv, { env, terminals: ['stderr'] });
    expect(stdout.split('\n')).toHaveLength(count + 1);
    expect(stderr).toContain(note);
  });
});
