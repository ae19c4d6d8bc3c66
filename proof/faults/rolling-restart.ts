import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { livekitServerVersion } from '../../src/server/dev/binaries/go-binary.ts';
import { createFleet, type Fleet, type FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { startHaproxy } from '../../test/support/parts/haproxy.ts';
import { startLivekit } from '../../test/support/parts/livekit.ts';
import { freePort } from '../../test/support/parts/run-part.ts';
import { Random } from '../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../experiment.ts';
import { exactly, observed } from '../figures.ts';
import { type CallersOptions, callUntil, type Ledger, MEDIA_KEY } from '../support/callers.ts';
import {
  createSignedClient,
  mediaServerSettings,
  namesOfStoredEvents,
  type SignedClient,
  startDatabase,
} from '../support/signed-client.ts';
import { percentile } from '../support/statistics.ts';

const SEED = 20_260_310;
const CALLERS = 8;
const PAUSE_MS = 40;
/** Seconds. The shipped configuration of HAProxy says that this is enough. */
const SHUTDOWN_DELAY = 5;
/** How often all instances are restarted; the short run restarts one. */
const ROUNDS = { long: 5, short: 1 } as const;
/** Time for the balancer to notice an instance: two probes. */
const BALANCER_DELAY_MS = 2_500;
export const rollingRestart: Experiment = { name: 'rolling-restart', run: restartWhileCalled };

async function restartWhileCalled({ runSize, report, cleanUp }: ExperimentContext): Promise<Findings> {
  const mediaSecret = randomBytes(24).toString('hex');
  const livekit = cleanUp(await startLivekit({ apiKey: MEDIA_KEY, apiSecret: mediaSecret }));
  const fleet = cleanUp(
    await createFleet({
      DATABASE_URL: await startDatabase({ cleanUp }),
      ...mediaServerSettings(livekit),
      TRUST_PROXY: '1',
      SHUTDOWN_DELAY: `${SHUTDOWN_DELAY}`,
    }),
  );
  const ports = [`${await freePort()}`, `${await freePort()}`, `${await freePort()}`] as const;
  const instances: FleetInstance[] = [];
  for (const PORT of ports) instances.push(await fleet.start({ PORT }));
  const proxy = cleanUp(await startHaproxy(ports.map((port) => `127.0.0.1:${port}`)));
  const outside = createSignedClient(proxy.url, fleet.keys, CALLERS);
  const inside = createSignedClient(proxy.insideUrl, fleet.keys, CALLERS);
  await delay(BALANCER_DELAY_MS);
  const stop = new AbortController();
  const callers: CallersOptions = {
    ...{ outside, inside, mediaSecret },
    ...{ random: new Random(SEED), callers: CALLERS, pauseMs: PAUSE_MS },
  };
  const calling = callUntil(stop.signal, callers);
  const restarts = ROUNDS[runSize] * (runSize === 'long' ? ports.length : 1);
  for (let count = 0; count < restarts; count += 1) {
    await restart(fleet, instances, ports[count % ports.length] ?? '');
    report(`${count + 1} of ${restarts} restarts`);
    await delay(BALANCER_DELAY_MS);
  }
  stop.abort();
  const ledger = await calling;
  for (const failure of [...ledger.failures, ...ledger.wrongSuccesses].slice(0, 20)) report(failure);
  const missing = await missingEvents(outside, ledger.reported);
  await Promise.all([outside.close(), inside.close()]);
  return {
    figures: [observed('restarts of an instance under load', restarts), ...figures(ledger, missing)],
    versions: { HAProxy: haproxyVersion(), LiveKit: livekitServerVersion },
    notes: [`Seed ${SEED}.`],
  };
}

async function restart(fleet: Fleet, instances: FleetInstance[], port: string): Promise<void> {
  const index = instances.findIndex(({ url }) => url.endsWith(`:${port}`));
  await instances[index]?.stop();
  instances[index] = await fleet.start({ PORT: port });
}

function figures(ledger: Ledger, missing: number) {
  return [
    observed('requests', ledger.requests),
    exactly('failed requests', ledger.failures.length, 0),
    exactly('successful answers that were not true', ledger.wrongSuccesses.length, 0),
    observed('acknowledged events', ledger.reported.length),
    exactly('acknowledged events that the list of events lacks', missing, 0),
    observed('duration of a request, median', percentile(ledger.timesMs, 0.5), ' ms'),
    observed('duration of a request, p99', percentile(ledger.timesMs, 0.99), ' ms'),
    observed('duration of a request, maximum', percentile(ledger.timesMs, 1), ' ms'),
  ];
}

/** Counts the rooms without an event in the complete list. */
async function missingEvents(client: SignedClient, names: readonly string[]): Promise<number> {
  const known = new Set(await namesOfStoredEvents(client));
  return names.filter((name) => !known.has(name)).length;
}

function haproxyVersion(): string {
  return /version (\S+)/.exec(execFileSync('haproxy', ['-v'], { encoding: 'utf8' }))?.[1] ?? '';
}
