import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { livekitServerVersion } from '../../src/server/dev/binaries/go-binary.ts';
import type { FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { startLivekit } from '../../test/support/parts/livekit.ts';
import { Random } from '../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../experiment.ts';
import { startDeliveryObserver } from '../faults/chaos/delivery-observer.ts';
import { atMost, exactly, type Figures, observed } from '../figures.ts';
import { type CallersOptions, callUntil, type Ledger, MEDIA_KEY } from '../support/callers.ts';
import { lookEvery } from '../support/poll.ts';
import { coreShare, growthFigures, type Sample, sampleProcess } from '../support/process-figures.ts';
import { mediaServerSettings, startService } from '../support/signed-client.ts';
import { percentile, round } from '../support/statistics.ts';

const SEED = 20_261_125;
const CALLERS = 16;
const SHARE = 0.6;
const SAMPLE_MS = 2_000;
const WARM_UP_SECONDS = { long: 20, short: 2 } as const;
const CAPACITY_SECONDS = { long: 20, short: 2 } as const;
const LOAD_SECONDS = { long: 1_800, short: 6 } as const;
const IDLE_SECONDS = { long: 60, short: 0 } as const;

export const steadyLoad: Experiment = { name: 'steady-load', run: loadSteadily };

async function loadSteadily({ runSize, report, cleanUp }: ExperimentContext): Promise<Findings> {
  const mediaSecret = randomBytes(24).toString('hex');
  const livekit = cleanUp(await startLivekit({ apiKey: MEDIA_KEY, apiSecret: mediaSecret }));
  const service = { environment: mediaServerSettings(livekit), connections: CALLERS };
  const { fleet, instance, client } = await startService({ cleanUp }, service);
  const observer = cleanUp(await startDeliveryObserver({ fleet, instance, webhooks: 1 }));
  const callers: CallersOptions = {
    ...{ outside: client, inside: client, mediaSecret },
    ...{ random: new Random(SEED), callers: CALLERS, pauseMs: 0 },
  };
  await callFor(WARM_UP_SECONDS[runSize], callers);
  const full = await callFor(CAPACITY_SECONDS[runSize], callers);
  const capacity = full.requests / CAPACITY_SECONDS[runSize];
  report(`capacity ${capacity.toFixed(0)} requests/s`);
  const { ledger, samples } = await watched(instance, () =>
    callFor(LOAD_SECONDS[runSize], { ...callers, turn: paced(capacity * SHARE) }),
  );
  for (const failure of [...ledger.failures, ...ledger.wrongSuccesses].slice(0, 10)) report(failure);
  const idle = runSize === 'long' ? await idleFigures(instance) : [];
  return {
    figures: [
      observed('capacity', Math.round(capacity), ' requests/s'),
      observed('minutes of load', LOAD_SECONDS[runSize] / 60),
      ...loadFigures(ledger, LOAD_SECONDS[runSize]),
      ...(runSize === 'long' ? growthFigures(samples, CALLERS) : []),
      observed('deliveries under load', observer.tally().distinct),
      exactly('deliveries with a wrong signature', observer.tally().wrongSignatures, 0),
      ...idle,
    ],
    versions: { LiveKit: livekitServerVersion, SQLite: process.versions.sqlite ?? '' },
    notes: [`Seed ${SEED}.`],
  };
}

function callFor(seconds: number, options: CallersOptions): Promise<Ledger> {
  return callUntil(AbortSignal.timeout(seconds * 1000), options);
}

/** Returns a function that waits for the next turn at a constant rate. Late callers do not wait. */
function paced(perSecond: number): () => Promise<void> {
  const startedAt = performance.now();
  let count = 0;
  return async () => {
    count += 1;
    const waitMs = startedAt + (count * 1000) / perSecond - performance.now();
    if (waitMs > 0) await delay(waitMs);
  };
}

async function watched(
  { pid }: FleetInstance,
  work: () => Promise<Ledger>,
): Promise<{ readonly ledger: Ledger; readonly samples: readonly Sample[] }> {
  const samples: Sample[] = [await sampleProcess(pid)];
  const sampler = lookEvery(SAMPLE_MS, async () => void samples.push(await sampleProcess(pid)));
  try {
    return { ledger: await work(), samples };
  } finally {
    sampler.close();
  }
}

function loadFigures({ requests, failures, wrongSuccesses, timesMs }: Ledger, seconds: number): Figures {
  return [
    observed('requests', requests),
    observed('requests per second', Math.round(requests / seconds)),
    exactly('failed requests', failures.length, 0),
    exactly('successful answers that were not true', wrongSuccesses.length, 0),
    observed('duration of a request, median', percentile(timesMs, 0.5), ' ms'),
    observed('duration of a request, p99', percentile(timesMs, 0.99), ' ms'),
    observed('duration of a request, maximum', percentile(timesMs, 1), ' ms'),
  ];
}

async function idleFigures({ pid }: FleetInstance): Promise<Figures> {
  await delay(10_000);
  const before = await sampleProcess(pid);
  await delay(IDLE_SECONDS.long * 1000);
  const share = round(100 * coreShare(before, await sampleProcess(pid)));
  return [
    atMost({ name: 'processor time of the idle instance', measured: share, bound: 1, unit: ' % of a core' }),
  ];
}
