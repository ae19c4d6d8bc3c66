import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import { Random } from '../../../test/support/random.ts';
import {
  atMost,
  type Experiment,
  type ExperimentContext,
  exactly,
  type Figure,
  type Findings,
  observed,
  type RunSize,
} from '../../experiment.ts';
import {
  callUntil,
  type Ledger,
  MEDIA_OPERATIONS,
  mediaRefusals,
  otherFailures,
  STORED_OPERATIONS,
  unexpectedLines,
} from '../../support/callers.ts';
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from '../../support/faulty-proxy.ts';
import { percentile } from '../../support/statistics.ts';
import { callersOn, startMediaStage, untilRooms } from './media-stage.ts';

const SEED = 20_261_127;
/** Number of callers that need the media server, and of callers that need only the database. */
const CALLERS = 6;
const PAUSE_MS = 30;
/** The service waits 10 s for each call to LiveKit, and a request about a room makes up to two calls. */
const MEDIA_BOUND_MS = 25_000;
/** Requests that need no media server must not wait for it. This is much less than the shortest delay that is an outage. */
const STORED_BOUND_MS = 1_000;

type SlowStage = { readonly name: string; readonly fault: ProxyFault; readonly seconds: number };

const PEACE: SlowStage = { name: 'before the faults', fault: { kind: 'none' }, seconds: 10 };
const delayed = (ms: number): SlowStage => ({
  name: `answers ${ms.toLocaleString('en-US')} ms late`,
  fault: { kind: 'delay', ms },
  seconds: 25,
});
const STALLED: SlowStage = {
  name: 'answers that stop in their middle',
  fault: { kind: 'stall' },
  seconds: 25,
};
const RESET: SlowStage = {
  name: 'connections reset in the middle of an answer',
  fault: { kind: 'reset' },
  seconds: 15,
};
const STAGES: Readonly<Record<RunSize, readonly SlowStage[]>> = {
  long: [PEACE, ...[100, 1_000, 3_000, 6_000, 12_000].map(delayed), STALLED, RESET],
  short: [PEACE, delayed(100), RESET].map((stage) => ({ ...stage, seconds: 1 })),
};

export const slowLivekit: Experiment = {
  name: 'slow-livekit',
  title: 'LiveKit answers late, halfway, or not at all',
  claim:
    `A slow media server makes only those requests slow that need it. They succeed late, or they are refused with a problem within ${MEDIA_BOUND_MS / 1_000} s; ` +
    `no success is wrong. Tokens, webhooks, events and stored lists are served within ${STORED_BOUND_MS / 1_000} s at p99.`,
  attack: [
    'A proxy is between one instance of the service and a real LiveKit. It delays each answer by 100 ms, 1 s, 3 s, 6 s and 12 s; it passes ' +
      'half of an answer and then nothing; it passes half of an answer and resets the connection. Each fault begins while calls are under ' +
      'way, on connections that are open.',
    `Meanwhile ${CALLERS} callers create, read, list and delete rooms, and ${CALLERS} others send what needs the database alone: tokens, webhooks, ` +
      'lists of events and sessions, and events of the media server. Every request is sent once. Successes are checked as in the rolling ' +
      'restart. After each fault the experiment measures how long it takes until a room can be made and closed and the rooms can be listed.',
  ],
  notClaimed: [
    'That a room whose creation was refused was not made: LiveKit may have made it, and only its answer was lost. Creating it again returns it.',
    'Late webhooks of LiveKit: it posts them to the service directly, and only its answers go through the proxy.',
  ],
  run: slowDown,
};

type Seen = {
  readonly stage: SlowStage;
  readonly media: Ledger;
  readonly stored: Ledger;
  readonly recoveredMs: number;
};

async function slowDown(context: ExperimentContext): Promise<Findings> {
  const { runSize, report, cleanUp } = context;
  const proxies: FaultyProxy[] = [];
  const setFault = (fault: ProxyFault): void => {
    for (const proxy of proxies) proxy.setFault(fault);
  };
  const stage = await startMediaStage(context, {
    connections: 4 * CALLERS,
    urlOf: async ({ httpUrl }) => {
      const proxy = await startFaultyProxy(Number(new URL(httpUrl).port));
      cleanUp(proxy.close);
      proxies.push(proxy);
      return `ws://127.0.0.1:${proxy.port}`;
    },
  });
  const random = new Random(SEED);
  const seen: Seen[] = [];
  for (const slow of STAGES[runSize]) {
    report(slow.name);
    const signal = AbortSignal.timeout(slow.seconds * 1000);
    const calling = (prefix: string, operations: typeof MEDIA_OPERATIONS) =>
      callUntil(signal, {
        ...callersOn(stage, { random, prefix: `${prefix}-${slow.name}` }),
        ...{ operations, callers: CALLERS, pauseMs: PAUSE_MS },
      });
    const calls = Promise.all([calling('media', MEDIA_OPERATIONS), calling('stored', STORED_OPERATIONS)]);
    setFault(slow.fault);
    const [media, stored] = await calls;
    setFault({ kind: 'none' });
    for (const line of [...unexpectedLines(media), ...unexpectedLines(stored)]) report(line);
    seen.push({ stage: slow, media, stored, recoveredMs: await untilRooms(stage) });
  }
  return {
    figures: seen.flatMap(toFigures),
    versions: { LiveKit: livekitServerVersion },
    notes: [`Seed ${SEED}.`],
  };
}

function toFigures({ stage: { name, fault }, media, stored, recoveredMs }: Seen): readonly Figure[] {
  const refused = mediaRefusals(media).length;
  const slowest = (ledger: Ledger): number => Math.round(percentile(ledger.timesMs, 1));
  const needing = `${name}: requests that need LiveKit`;
  const stillSucceeds = fault.kind === 'none' || (fault.kind === 'delay' && fault.ms < 10_000);
  return [
    observed(needing, media.requests),
    stillSucceeds ? exactly(`${needing}, refused`, refused, 0) : observed(`${needing}, refused`, refused),
    exactly(`${needing}, failed without a problem that says why`, otherFailures(media).length, 0),
    exactly(`${name}: successes that were not true`, media.wrongSuccesses.length, 0),
    atMost({ name: `${needing}, slowest`, measured: slowest(media), bound: MEDIA_BOUND_MS, unit: ' ms' }),
    observed(`${name}: other requests`, stored.requests),
    exactly(`${name}: other requests that failed`, stored.failures.length, 0),
    exactly(`${name}: other successes that were not true`, stored.wrongSuccesses.length, 0),
    atMost({
      name: `${name}: other requests, p99`,
      measured: Math.round(percentile(stored.timesMs, 0.99)),
      bound: STORED_BOUND_MS,
      unit: ' ms',
    }),
    observed(`${name}: rooms can be made and listed afterwards`, Math.round(recoveredMs), ' ms'),
  ];
}
