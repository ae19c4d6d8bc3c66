import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { forEachConcurrently } from '../../../src/server/platform/jobs/concurrently.ts';
import { type Experiment, type ExperimentContext, type Findings, makeFolder } from '../../experiment.ts';
import { exactly, type Figure, type Figures, observed } from '../../figures.ts';
import { type CommandRun, costFigures, hasCrashed, runCommand } from '../../support/command-run.ts';
import { type Behaviour, send, startRawServer, thenDrip, thenFlood } from '../raw-server.ts';

/** An answer may have 32 MB, and its values take many times that while they are shown. */
const LIMITS = { seconds: 30, memoryMb: 1_024 } as const;
const SECRET_PATTERN = /x-service-signature|x-api-key|hostile-key/i;

const COMMANDS: readonly (readonly string[])[] = [
  ['rooms', 'list'],
  ['rooms', 'list', '--json'],
  ['rooms', 'create', 'demo'],
  ['recordings', 'download', 'EG_hostile', '--force', '--debug'],
  ['events', 'list'],
  ['webhooks', 'list'],
  ['api', 'GET', '/v1/rooms', '--include'],
];

/** The short run runs the first command, against every sixth server. */
const EVERY = 6;
const CONCURRENCY = { long: 2, short: 3 } as const;
/** Characters that a terminal interprets, except line ends and tabs, which the command itself writes. */
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;
/** The control sequence with which the command itself clears a line of progress. */
const OWN_PROGRESS = /\r\u001b\[2?K/g;
const REQUEST_TIMEOUT_SECONDS = 3;
export const hostileServers: Experiment = { name: 'hostile-servers', run: meetServers };

type Meeting = { readonly name: string; readonly argv: readonly string[]; readonly run: CommandRun };

async function meetServers(context: ExperimentContext): Promise<Findings> {
  const { runSize, report: say, cleanUp } = context;
  const [folder, home] = [await makeFolder(context), await makeFolder(context)];
  const apiSecret = randomBytes(24).toString('hex');
  const elsewhere = cleanUp(
    await startRawServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen')),
  );
  const meetings: Meeting[] = [];
  await forEachConcurrently(makeWork(runSize), CONCURRENCY[runSize], async ({ name, behave, argv }) => {
    const server = await startRawServer((socket, head) => behave(socket, elsewhere.url, head));
    const url = name.startsWith('TLS') ? server.url.replace('http:', 'https:') : server.url;
    const words = [...argv, '--request-timeout', `${REQUEST_TIMEOUT_SECONDS}s`];
    const service = { RTC_URL: url, RTC_API_KEY: 'hostile-key', RTC_API_SECRET: apiSecret };
    const run = await runCommand(words, { folder, environment: { HOME: home, ...service } });
    await server.close();
    meetings.push({ name, argv, run });
  });
  const leaked = elsewhere.heads.filter((head) => SECRET_PATTERN.test(head) || head.includes(apiSecret));
  for (const head of leaked) say(`sent elsewhere: ${JSON.stringify(head)}`);
  const files = await readdir(folder);
  return {
    figures: toFigures(meetings, { apiSecret, leaked, elsewhere: elsewhere.heads.length, files, say }),
  };
}

type Work = { readonly name: string; readonly behave: Behaviour; readonly argv: readonly string[] };

function makeWork(runSize: ExperimentContext['runSize']): readonly Work[] {
  const behaviours = Object.entries({ ...BEHAVIOURS, ...TLS_BEHAVIOURS });
  const chosen = runSize === 'long' ? behaviours : behaviours.filter((_, index) => index % EVERY === 0);
  const commands = runSize === 'long' ? COMMANDS : COMMANDS.slice(0, 1);
  return chosen.flatMap(([name, behave]) => commands.map((argv) => ({ name, behave, argv })));
}

type Seen = {
  readonly apiSecret: string;
  readonly leaked: readonly string[];
  readonly elsewhere: number;
  readonly files: readonly string[];
  readonly say: (line: string) => void;
};

function toFigures(meetings: readonly Meeting[], seen: Seen): Figures {
  const { apiSecret, leaked, elsewhere, files, say } = seen;
  const none = (name: string, what: string, isWrong: (run: CommandRun) => boolean): Figure => {
    const wrong = meetings.filter(({ run }) => isWrong(run));
    for (const { name: server, argv, run } of wrong) {
      const output = JSON.stringify(run.output.slice(0, 300));
      say(`${what}: ${server}, rtc ${argv.join(' ')}: ${run.code} ${output}`);
    }
    return exactly(name, wrong.length, 0);
  };
  const isRaw = ({ output }: CommandRun): boolean => RAW.test(output.replaceAll(OWN_PROGRESS, ''));
  const runs = meetings.map(({ run }) => run);
  const strayed = files.filter((name) => !name.startsWith('EG_hostile'));
  return [
    observed('servers', new Set(meetings.map(({ name }) => name)).size),
    observed('commands', meetings.length),
    none('commands that did not end by themselves', 'stuck', ({ isStuck }) => isStuck),
    none('commands that ended with an undocumented exit code or crashed', 'crashed', hasCrashed),
    none('commands that wrote raw control characters', 'raw', isRaw),
    none('commands that wrote the secret', 'secret', ({ output }) => output.includes(apiSecret)),
    observed('requests that a redirect led to another host', elsewhere),
    exactly('requests to another host with a key, a signature or the secret', leaked.length, 0),
    exactly('files written elsewhere than asked', strayed.length, 0),
    ...costFigures(runs, LIMITS),
  ];
}

/** Control sequences that every string contains: the title of the window, colours, a bell, a link, the C1 form of CSI, and marks that turn the direction of text around. */
const ESCAPES = '\u001b]0;owned\u0007\u001b[31m\u001b[2J\u009b31m\u202e\u2066\u0000\u0008\r\u007f';
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

const respond =
  (body: string | Buffer, head = OK): Behaviour =>
  (socket) => {
    socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`, 'latin1');
    socket.write(body);
  };

const redirect =
  (status: number): Behaviour =>
  (socket, elsewhere) =>
    socket.write(
      `HTTP/1.1 ${status} Moved\r\nLocation: ${elsewhere}/stolen?x=1\r\nContent-Length: 0\r\n\r\n`,
      'latin1',
    );

const leadTo =
  (location: string): Behaviour =>
  (socket) =>
    socket.write(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`, 'latin1');

const problem = (text: string): string =>
  JSON.stringify({
    type: 'urn:problem-type:rtc:conflict',
    ...{ title: text, status: 409, detail: text, instance: `urn:uuid:${text}` },
    ...{ hint: { text, command: text }, errors: [{ pointer: text, detail: text }] },
  });

const ENTRY = {
  ...{ name: ESCAPES, id: ESCAPES, sid: ESCAPES, metadata: ESCAPES, url: ESCAPES, roomId: ESCAPES },
  ...{
    status: ESCAPES,
    createdAt: ESCAPES,
    creationTime: ESCAPES,
    numParticipants: ESCAPES,
    events: [ESCAPES],
  },
  ...{ type: ESCAPES, event: ESCAPES, identity: ESCAPES, error: ESCAPES, startedAt: ESCAPES },
};
const LISTS = ['rooms', 'events', 'webhooks', 'sessions', 'recordings', 'keys', 'participants'];
const makeLists = (entries: unknown, more: object = {}): string =>
  JSON.stringify({ ...Object.fromEntries(LISTS.map((name) => [name, entries])), nextCursor: null, ...more });

const RECORDING = JSON.stringify({
  ...{ egressId: 'EG_hostile', roomId: 'demo', status: 'completed', startedAt: '2026-01-01T00:00:00.000Z' },
  ...{ endedAt: '2026-01-01T00:01:00.000Z', file: { path: 'x.mp4', sizeBytes: 6, durationSeconds: 1 } },
});

/** Shows a recording, and behaves so when it is downloaded. */
const forDownload =
  (behave: Behaviour): Behaviour =>
  (socket, elsewhere, head) =>
    (head.includes('/download') ? behave : respond(RECORDING))(socket, elsewhere, head);

const reset = (socket: Socket): unknown => socket.resetAndDestroy();

let pages = 0;

/** All hostile servers for `rtc` commands, by the names of their behaviours. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  'an endless body': thenFlood(`${OK}\r\n["`, 'x'),
  'an endless body in chunks': thenFlood(CHUNKED, '5\r\nxxxxx\r\n'),
  'an endless extension of a chunk': thenFlood(`${CHUNKED}5;`, 'x'),
  'endless trailers': thenFlood(`${CHUNKED}0\r\n`, 'X-Trailer: x\r\n'),
  'endless white space': thenFlood(`${OK}\r\n`, ' \n'),
  'endless headers': thenFlood('HTTP/1.1 200 OK\r\n', 'X-Header: x\r\n'),
  'an endless header': thenFlood('HTTP/1.1 200 OK\r\nX-Header: ', 'x'),
  'an endless reason': thenFlood('HTTP/1.1 200 ', 'x'),
  'no HTTP, without end': thenFlood('', 'x'),
  'a body of a byte at a time': thenDrip(`${OK}\r\n[`, ' '),
  'headers of a byte at a time': thenDrip('HTTP/1.1 200 OK\r\nX-Slow: ', 'x'),
  'empty lines, one at a time': thenDrip('', '\r\n'),
  'no answer': () => {},
  'half an answer': send(`${OK}Content-Length: 100\r\n\r\n{"rooms":`),
  'a close before the answer': (socket) => socket.end(),
  'a reset before the answer': reset,
  'a reset within the answer': (socket) =>
    socket.write(`${OK}Content-Length: 100\r\n\r\n{`, () => reset(socket)),
  'a close within the answer': (socket) => socket.end(`${OK}Content-Length: 100\r\n\r\n{"rooms":`),
  'a length that is too short': send(`${OK}Content-Length: 2\r\n\r\n{"rooms":[],"nextCursor":null}`),
  'a huge length': send(`${OK}Content-Length: 900719925474099\r\n\r\n{}`),
  'a negative length': send(`${OK}Content-Length: -5\r\n\r\n{}`),
  'two lengths': send(`${OK}Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}`),
  'length and chunks': send(`${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
  'a huge chunk': send(`${CHUNKED}ffffffffffffffff\r\nx`),
  'broken chunks': send(`${CHUNKED}zz\r\nx`),
  'a gzip bomb': respond(gzipSync(Buffer.alloc(256 * 1024 * 1024)), `${OK}Content-Encoding: gzip\r\n`),
  'an unknown content coding': respond('{}', `${OK}Content-Encoding: ${'gzip, '.repeat(500)}br\r\n`),
  'broken JSON': respond('{"rooms":['),
  'broken UTF-8': respond(Buffer.from('{"rooms":[{"name":"\xff\xfe\xc0\x80"}],"nextCursor":null}', 'latin1')),
  'UTF-16': respond(Buffer.from('\ufeff{"rooms":[]}', 'utf16le')),
  'an empty body': respond(''),
  null: respond('null'),
  'a number': respond('1e999'),
  'another shape': respond('{"rooms":5,"events":"x","webhooks":{},"nextCursor":7}'),
  'a list of null': respond(makeLists([null])),
  'entries of other types': respond(makeLists([{ name: {}, id: [], createdAt: -1, numParticipants: 'x' }])),
  'names of prototypes': respond('{"__proto__":{"rooms":[]},"constructor":null,"rooms":[{"__proto__":{}}]}'),
  'a million brackets': respond('['.repeat(1_000_000)),
  'a huge number': respond(`{"rooms":[],"nextCursor":${'9'.repeat(1_000_000)}}`),
  'a large list': respond(makeLists(Array(20_000).fill({ name: 'x'.repeat(100), id: 'x'.repeat(90) }))),
  'the same cursor for ever': respond(makeLists([{ name: 'x', id: 'x' }], { nextCursor: 'again' })),
  'a new cursor for ever': (socket) => {
    pages += 1;
    respond(makeLists([{ name: 'x', id: `x${pages}` }], { nextCursor: `${pages}` }))(socket, '', '');
  },
  'another content type': respond(
    '<script>alert(1)</script>',
    'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n',
  ),
  'escapes in every string': respond(makeLists([ENTRY])),
  'escapes in a problem': respond(
    problem(ESCAPES),
    'HTTP/1.1 409 Conflict\r\nContent-Type: application/problem+json\r\n',
  ),
  'escapes in a body that is no JSON': respond(ESCAPES, 'HTTP/1.1 500 Error\r\nContent-Type: text/plain\r\n'),
  'escapes in the content type': respond('x', 'HTTP/1.1 200 OK\r\nContent-Type: \u009b31m\u0085/\u202e\r\n'),
  'escapes in the reason': respond('x', 'HTTP/1.1 500 \u009b31mowned\r\n'),
  'escapes in the request id': respond(
    problem('x'),
    'HTTP/1.1 500 Error\r\nContent-Type: application/problem+json\r\nX-Request-Id: \u009b31mowned\r\n',
  ),
  'a redirect (301)': redirect(301),
  'a redirect (302)': redirect(302),
  'a redirect (303)': redirect(303),
  'a redirect (307)': redirect(307),
  'a redirect (308)': redirect(308),
  'a redirect of the download': forDownload(redirect(302)),
  'a redirect of the download to a file': forDownload(leadTo('file:///etc/passwd')),
  'a redirect to a file': leadTo('file:///etc/passwd'),
  'a redirect to a script': leadTo('javascript:alert(1)'),
  'a redirect with escapes': leadTo('http://\u009b31m.example/\u009b31m'),
  'a redirect to nowhere': leadTo('//'),
  'a request to try again in a year': respond(
    '{}',
    'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 31536000\r\n',
  ),
  'a request to try again at no time': respond('{}', 'HTTP/1.1 503 Unavailable\r\nRetry-After: 1e999\r\n'),
  'endless 100s': thenFlood('', 'HTTP/1.1 100 Continue\r\n\r\n'),
  'endless 103s': thenFlood('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'),
  'a switch of protocols': send(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxxx',
  ),
  'an impossible status': send('HTTP/1.1 999 Strange\r\nContent-Length: 0\r\n\r\n'),
  'an answer of SSH': send('SSH-2.0-OpenSSH_9.9\r\n'),
  'an answer of TLS': send(Buffer.from('15030300020228', 'hex')),
};

/** Answers to the beginning of a TLS handshake. */
const TLS_BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  'TLS: endless garbage': thenFlood('', '\u0000\u00ff'),
  'TLS: endless records': thenFlood('', `\u0016\u0003\u0003\u0040\u0000${'x'.repeat(16_384)}`),
  'TLS: plain HTTP': respond('{}'),
  'TLS: an alert': send(Buffer.from('15030300020228', 'hex')),
  'TLS: no answer': () => {},
  'TLS: a byte at a time': thenDrip('', '\u0016'),
};
