import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings, RunSize } from '../../experiment.ts';
import { atMost, exactly, type Figures, named, observed } from '../../figures.ts';
import { type Ledger, mediaRefusals, otherFailures } from '../../support/callers.ts';
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from '../../support/database-proxy.ts';
import { untilWorking } from '../../support/faults.ts';
import { percentile } from '../../support/statistics.ts';
import { callBoth, canUseRooms, startMediaStage } from './media-stage.ts';

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
    toUrl: async ({ httpUrl }) => {
      const proxy = cleanUp(await startFaultyProxy(Number(new URL(httpUrl).port)));
      proxies.push(proxy);
      return `ws://127.0.0.1:${proxy.port}`;
    },
  });
  const calling = { random: new Random(SEED), callers: CALLERS, pauseMs: PAUSE_MS };
  const seen: Seen[] = [];
  for (const slow of STAGES[runSize]) {
    report(slow.name);
    const calls = callBoth(stage, { ...calling, name: slow.name, seconds: slow.seconds }, report);
    setFault(slow.fault);
    const both = await calls;
    setFault({ kind: 'none' });
    seen.push({ stage: slow, ...both, recoveredMs: await untilWorking(() => canUseRooms(stage)) });
  }
  return {
    figures: seen.flatMap(toFigures),
    versions: { LiveKit: livekitServerVersion },
    notes: [`Seed ${SEED}.`],
  };
}

function toFigures({ stage: { name, fault }, media, stored, recoveredMs }: Seen): Figures {
  const refused = mediaRefusals(media).length;
  const unsaid = otherFailures(media);
  const refusals = 'requests that need LiveKit, refused';
  const unit = ' ms';
  const ms = (ledger: Ledger, part: number): number => Math.round(percentile(ledger.timesMs, part));
  const stillSucceeds = fault.kind === 'none' || (fault.kind === 'delay' && fault.ms < 10_000);
  const slowest = { name: 'requests that need LiveKit, slowest', bound: MEDIA_BOUND_MS, unit };
  const others = { name: 'other requests, p99', bound: STORED_BOUND_MS, unit };
  return named(name, [
    observed('requests that need LiveKit', media.requests),
    stillSucceeds ? exactly(refusals, refused, 0) : observed(refusals, refused),
    exactly('requests that need LiveKit, failed without a problem that says why', unsaid.length, 0),
    exactly('successes that were not true', media.wrongSuccesses.length, 0),
    atMost({ ...slowest, measured: ms(media, 1) }),
    observed('other requests', stored.requests),
    exactly('other requests that failed', stored.failures.length, 0),
    exactly('other successes that were not true', stored.wrongSuccesses.length, 0),
    atMost({ ...others, measured: ms(stored, 0.99) }),
    observed('rooms can be made and listed afterwards', recoveredMs, unit),
  ]);
}
