import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { type Experiment, type ExperimentContext, type Findings, makeFolder } from '../../experiment.ts';
import { exactly, type Figure, type Figures, observed } from '../../figures.ts';
import { type CommandRun, costFigures, hasCrashed, runCommand } from '../../support/command-run.ts';
import { type Behaviour, startRawServer } from '../raw-server.ts';
import { BEHAVIOURS, TLS_BEHAVIOURS } from './behaviours.ts';

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
  const work = makeWork(runSize);
  const meetings: Meeting[] = [];
  const meetNext = async (): Promise<void> => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) {
      const { name, behave, argv } = next;
      const server = await startRawServer((socket, head) => behave(socket, elsewhere.url, head));
      const url = name.startsWith('TLS') ? server.url.replace('http:', 'https:') : server.url;
      const words = [...argv, '--request-timeout', `${REQUEST_TIMEOUT_SECONDS}s`];
      const service = { RTC_URL: url, RTC_API_KEY: 'hostile-key', RTC_API_SECRET: apiSecret };
      const run = await runCommand(words, { folder, environment: { HOME: home, ...service } });
      await server.close();
      meetings.push({ name, argv, run });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY[runSize] }, meetNext));
  const leaked = elsewhere.heads.filter((head) => SECRET_PATTERN.test(head) || head.includes(apiSecret));
  for (const head of leaked) say(`sent elsewhere: ${JSON.stringify(head)}`);
  const files = await readdir(folder);
  return {
    figures: toFigures(meetings, { apiSecret, leaked, elsewhere: elsewhere.heads.length, files, say }),
  };
}

type Work = { readonly name: string; readonly behave: Behaviour; readonly argv: readonly string[] };

function makeWork(runSize: ExperimentContext['runSize']): Work[] {
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
