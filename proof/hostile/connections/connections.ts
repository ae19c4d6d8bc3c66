import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { FleetInstance } from '../../../test/server/webhooks/support/instance.ts';
import { RawConnection } from '../../../test/support/raw-http.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { exactly, type Figure, type Figures, observed } from '../../figures.ts';
import { attackTarget, type Target } from '../target.ts';
import { type Limits, type Served, type Stage, servedFigures, whileServed } from '../well-behaved.ts';
import { type AttackName, type AttackReport, attack } from './attacks.ts';

const CALM_SECONDS = { long: 15, short: 1 } as const;
/** The service ends an incomplete request after 30 s; the full run waits for that. */
const SECONDS = { long: 40, short: 2 } as const;
const LIMITS: Limits = { p99Ms: 1_500, growthMb: 250 };
/** More connections than the service keeps open. */
const IDLE_CONNECTIONS = 12_000;
const DESCRIPTORS = 20_000;

type Crowd = {
  readonly name: string;
  readonly attack: AttackName;
  readonly connections: { readonly long: number; readonly short: number };
  /** Whether the service has to close every connection within the stage. */
  readonly isGivenUp?: true;
  /** Whether the attack gets a new process, so that memory that V8 has kept since earlier attacks does not count. */
  readonly isAlone?: true;
};

const CROWDS: readonly Crowd[] = [
  { name: 'slow headers', attack: 'slowHeaders', connections: { long: 2_000, short: 100 }, isGivenUp: true },
  { name: 'slow bodies', attack: 'slowBodies', connections: { long: 2_000, short: 100 }, isGivenUp: true },
  { name: 'refused requests', attack: 'refusedFlood', connections: { long: 50, short: 4 } },
  { name: 'unread answers', attack: 'unreadAnswers', connections: { long: 500, short: 20 } },
  {
    name: 'idle connections',
    attack: 'idle',
    connections: { long: IDLE_CONNECTIONS, short: 200 },
    isAlone: true,
  },
];

/*
 * Requests whose end is ambiguous. A proxy could take the request that follows for a part of their body. The service must
 * not serve that second request.
 */

const SMUGGLED_ID = 'smuggled-by-framing';
const SMUGGLED = `GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${SMUGGLED_ID}\r\n\r\n`;
const LENGTH = SMUGGLED.length;

/** Malformed chunks. A request without a signature is refused before they are read. */
const BROKEN_CHUNKS: Readonly<Record<string, string>> = {
  'a chunk that is longer than its size': 'Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n',
  'a chunk without its end': 'Transfer-Encoding: chunked\r\n\r\n1\r\na0\r\n\r\n',
  'a bare LF after a chunk': 'Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n',
};

/** Contradictory heads, and heads that are not HTTP. The service has to refuse them and close the connection. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'length and chunks': `Content-Length: ${LENGTH}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks and length': 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
  'two lengths': `Content-Length: 0\r\nContent-Length: ${LENGTH}\r\n\r\n`,
  'a list of lengths': `Content-Length: 0, ${LENGTH}\r\n\r\n`,
  'a length with a sign': 'Content-Length: +0\r\n\r\n',
  'a length in hexadecimal': 'Content-Length: 0x0\r\n\r\n',
  'a negative length': 'Content-Length: -1\r\n\r\n',
  'a space before the colon of the length': 'Content-Length : 0\r\n\r\n',
  'a space before the colon of the coding': 'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  'an unknown coding': 'Transfer-Encoding: xchunked\r\n\r\n',
  'chunks that are not last': 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  'chunks in quotes': 'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n',
  'chunks twice': 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
  'a folded coding': 'Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
  'a folded length': 'X-Folded: a\r\n Content-Length: 5\r\n\r\n',
  'a bare CR in a header': 'X-Bare: a\rContent-Length: 5\r\n\r\n',
  'a bare LF after a header': 'X-Bare: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a NUL in a header': 'X-Null: a\0b\r\n\r\n',
  'a size of a chunk in hexadecimal notation': 'Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n',
  'a size of a chunk that overflows': 'Transfer-Encoding: chunked\r\n\r\n1000000000000000000000000\r\n\r\n',
  'a negative size of a chunk': 'Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n',
  'a bare LF in a chunk extension': 'Transfer-Encoding: chunked\r\n\r\n0;a\n\r\n\r\n',
  ...BROKEN_CHUNKS,
};

/** Well-formed bodies of requests that usually have none. The service must not serve the request inside the body. */
const HIDDEN: Readonly<Record<string, string>> = {
  'a GET with a body': `Content-Length: ${LENGTH}\r\n\r\n`,
  'a GET with a chunk': `Transfer-Encoding: chunked\r\n\r\n${LENGTH.toString(16)};name=value\r\n`,
};

const MOMENTS_MS = 5_000;

export const hostileConnections: Experiment = {
  name: 'hostile-connections',
  run: (context) =>
    attackTarget(context, { database: 'SQLite' }, (target) => attackConnections(target, context)),
};

async function attackConnections(target: Target, context: ExperimentContext): Promise<Findings> {
  const { runSize, report: reportLine } = context;
  raiseDescriptors(process.pid);
  const { served, calm } = await measureCalm(target.instance, target, runSize);
  const { stage: framed, result: framing } = await whileServed(served, 'framing', () =>
    sendFraming(served.url),
  );
  for (const line of [...framing.accepted, ...framing.smuggled, ...framing.leftOpen]) reportLine(line);
  const figures: Figure[] = [
    ...servedFigures(calm, calm, LIMITS).slice(0, 2),
    observed('framing: requests', framing.forms),
    exactly('framing: requests that were answered from within another', framing.smuggled.length, 0),
    exactly('framing: ambiguous requests that were not refused', framing.accepted.length, 0),
    exactly('framing: connections left open after an ambiguous request', framing.leftOpen.length, 0),
    ...servedFigures(framed, calm, LIMITS),
  ];
  for (const crowd of CROWDS) {
    reportLine(crowd.name);
    const ground = crowd.isAlone
      ? await measureCalm(
          await target.fleet.start({ DATA_DIR: `${target.fleet.dataDir}-alone` }),
          target,
          runSize,
        )
      : { served, calm };
    figures.push(...(await attackWith(crowd, { context, ...ground })));
  }
  return { figures };
}

type Attacked = { readonly context: ExperimentContext; readonly served: Served; readonly calm: Stage };

/** Warms an instance up, whose first requests compile code, and measures a caller while nobody attacks it. */
async function measureCalm(
  { url, pid }: FleetInstance,
  { fleet: { keys } }: Target,
  runSize: ExperimentContext['runSize'],
): Promise<Pick<Attacked, 'served' | 'calm'>> {
  raiseDescriptors(pid);
  const served = { url, pid, keys };
  await whileServed(served, 'warm-up', () => delay(CALM_SECONDS[runSize] * 300));
  const { stage } = await whileServed(served, 'calm', () => delay(CALM_SECONDS[runSize] * 1_000));
  return { served, calm: stage };
}

async function attackWith(
  crowd: Crowd,
  { context: { runSize, report: reportLine }, served, calm }: Attacked,
): Promise<Figures> {
  const { name, connections } = crowd;
  const options = {
    url: served.url,
    keys: served.keys,
    connections: connections[runSize],
    seconds: SECONDS[runSize],
  };
  const { stage, result } = await whileServed(served, name, () => attack(crowd.attack, options));
  for (const line of new Set(stage.failures)) reportLine(`${name}: ${line}`);
  return [...reportFigures(crowd, result, runSize), ...servedFigures(stage, calm, LIMITS)];
}

function reportFigures(
  { name, isGivenUp }: Crowd,
  report: AttackReport,
  runSize: ExperimentContext['runSize'],
) {
  const { opened, closed, sent, answered } = report;
  const closings = `${name}: connections that the service closed`;
  return [
    observed(`${name}: connections opened`, opened),
    isGivenUp && runSize === 'long' ? exactly(closings, closed, opened) : observed(closings, closed),
    observed(`${name}: writes of the attackers`, sent),
    observed(`${name}: answers to them`, answered),
  ];
}

/** The usual soft limit of 1,024 descriptors would stop the attack before the service does. */
function raiseDescriptors(pid: number): void {
  execFileSync('prlimit', ['--pid', `${pid}`, `--nofile=${DESCRIPTORS}:`]);
}

type FramingCount = {
  forms: number;
  /** Ambiguous requests that were not refused. */
  readonly accepted: string[];
  /** Request ids of hidden requests that were served. */
  readonly smuggled: string[];
  readonly leftOpen: string[];
};

/** Sends every form to an existing path and to a missing one. */
async function sendFraming(url: string): Promise<FramingCount> {
  const count: FramingCount = { forms: 0, accepted: [], smuggled: [], leftOpen: [] };
  for (const target of ['/v1/health', '/v1/rooms', '/nothing']) {
    for (const [name, head] of Object.entries(AMBIGUOUS))
      await sendAmbiguous({ url, target, name, head }, count);
    for (const [name, head] of Object.entries(HIDDEN)) await sendHidden({ url, target, name, head }, count);
  }
  return count;
}

type FramedRequest = {
  readonly url: string;
  readonly target: string;
  readonly name: string;
  readonly head: string;
};

async function sendAmbiguous({ url, target, name, head }: FramedRequest, count: FramingCount): Promise<void> {
  count.forms += 1;
  const connection = await RawConnection.open(url);
  connection.send(`POST ${target} HTTP/1.1\r\nHost: x\r\n${head}${SMUGGLED}`);
  const first = await connection.read();
  const refusals = name in BROKEN_CHUNKS ? [400, 401] : [400, 413, 501];
  if (first === undefined || !refusals.includes(first.status)) {
    count.accepted.push(`${name} at ${target}: ${first?.status ?? 'no response'}`);
  }
  // Reads to the end of the connection, because a response to the second request would come before it.
  for (
    let response = await withinMoments(connection);
    response !== undefined;
    response = await withinMoments(connection)
  ) {
    if (response === 'open') {
      count.leftOpen.push(`${name} at ${target}`);
      break;
    }
    if (response.headers['x-request-id'] === SMUGGLED_ID) count.smuggled.push(`${name} at ${target}`);
  }
  connection.close();
}

/** Returns the next response; undefined at the end of the connection; `open` if neither comes in time. */
async function withinMoments(connection: RawConnection) {
  const { promise, resolve } = Promise.withResolvers<'open'>();
  const timer = setTimeout(() => resolve('open'), MOMENTS_MS);
  try {
    return await Promise.race([connection.read(), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sends the hidden request as the body of another one, and then a separate request. */
async function sendHidden({ url, target, name, head }: FramedRequest, count: FramingCount): Promise<void> {
  count.forms += 1;
  const connection = await RawConnection.open(url);
  const end = head.includes('chunked') ? '\r\n0\r\n\r\n' : '';
  connection.send(`GET ${target} HTTP/1.1\r\nHost: x\r\n${head}${SMUGGLED}${end}`);
  connection.send('GET /nothing HTTP/1.1\r\nHost: x\r\nX-Request-Id: after\r\nConnection: close\r\n\r\n');
  for (let response = await connection.read(); response !== undefined; response = await connection.read()) {
    if (response.headers['x-request-id'] === SMUGGLED_ID) count.smuggled.push(`${name} at ${target}`);
  }
  connection.close();
}
