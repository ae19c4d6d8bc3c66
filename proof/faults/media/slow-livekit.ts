import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings, RunSize } from '../../experiment.ts';
import { atMost, exactly, type Figure, observed } from '../../figures.ts';
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

export const slowLivekit: Experiment = { name: 'slow-livekit', run: slowDown };

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
