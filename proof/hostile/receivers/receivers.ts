import { setTimeout as delay } from 'node:timers/promises';
import { postMediaEvent, roomFinished } from '../../../test/server/webhooks/support/media-webhook.ts';
import { type Receiver, startReceiver } from '../../../test/server/webhooks/support/receiver.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { atMost, exactly, type Figures, observed } from '../../figures.ts';
import { percentile } from '../../support/statistics.ts';
import { attackTarget, findFirstAttempt, register, type Target } from '../target.ts';
import { type Served, servedFigures, whileServed } from '../well-behaved.ts';
import { type HostileReceiver, RECEIVERS, startHostileServers } from './behaviours.ts';

const WEBHOOKS_OF_EACH = { long: 5, short: 1 } as const;
const EVENTS = { long: 200, short: 20 } as const;
const PAUSE_MS = 100;
const CALM_MS = { long: 10_000, short: 500 } as const;
const LIMITS = { p99Ms: 1_500, growthMb: 250 } as const;
/** Maximum time from the acknowledgement of an event to its arrival at the receiver that behaves. */
const MAX_DELIVERY_MS = 1_500;

export const hostileReceivers: Experiment = {
  name: 'hostile-receivers',
  run: (context) =>
    attackTarget(context, { database: 'SQLite' }, (target) => deliverToHostile(target, context)),
};

async function deliverToHostile(target: Target, context: ExperimentContext): Promise<Findings> {
  const { runSize, report: say, cleanUp } = context;
  const { instance, fleet } = target;
  const served: Served = { url: instance.url, pid: instance.pid, keys: fleet.keys };
  await whileServed(served, 'warm-up', () => delay(CALM_MS[runSize] / 2));
  const { stage: calm } = await whileServed(served, 'calm', () => delay(CALM_MS[runSize]));
  const good = cleanUp(await startReceiver());
  await registerHook(target, good.url);
  const { hooks, countElsewhere } = await startHostile(context, target);
  const { stage, result } = await whileServed(served, 'hostile receivers', () =>
    sendEvents(target, good, EVENTS[runSize]),
  );
  const wrong: string[] = [];
  for (const hook of hooks) {
    const seen = await findFirstAttempt(target, hook.id);
    const { statusCode, isDelivered } = hook.receiver;
    if (seen?.statusCode !== statusCode || (seen?.error === null) !== isDelivered)
      wrong.push(`${hook.name}: ${JSON.stringify(seen)}`);
  }
  for (const line of new Set([...wrong, ...stage.failures])) say(line);
  return {
    figures: [
      observed('kinds of hostile receivers', Object.keys(RECEIVERS).length),
      observed('webhooks that lead to them', hooks.length),
      observed('events', EVENTS[runSize]),
      exactly('events that did not reach the receiver that behaves', EVENTS[runSize] - result.length, 0),
      ...deliveryFigures(result),
      exactly('first attempts that the log describes wrongly', wrong.length, 0),
      exactly('requests that a redirect led elsewhere', await countElsewhere(), 0),
      ...servedFigures(stage, calm, LIMITS),
    ],
  };
}

function deliveryFigures(timesMs: readonly number[]): Figures {
  const name = 'delivery to the receiver that behaves';
  const measured = Math.round(percentile(timesMs, 0.99));
  return [
    observed(`${name}, median`, Math.round(percentile(timesMs, 0.5)), ' ms'),
    atMost({ name: `${name}, p99`, measured, bound: MAX_DELIVERY_MS, unit: ' ms' }),
  ];
}

type Hook = { readonly name: string; readonly id: string; readonly receiver: HostileReceiver };

async function startHostile(
  { runSize, cleanUp }: ExperimentContext,
  target: Target,
): Promise<{ readonly hooks: readonly Hook[]; readonly countElsewhere: () => Promise<number> }> {
  const { urls, countElsewhere, close } = await startHostileServers(WEBHOOKS_OF_EACH[runSize]);
  cleanUp(close);
  const hooks: Hook[] = [];
  for (const [name, receiver] of Object.entries(RECEIVERS)) {
    for (const url of urls.get(name) ?? []) {
      hooks.push({ name, receiver, id: await registerHook(target, url) });
    }
  }
  return { hooks, countElsewhere };
}

async function registerHook(target: Target, url: string): Promise<string> {
  const id = await register(target, url);
  if (id === undefined) throw new Error(`the webhook of ${url} was refused`);
  return id;
}

/** Sends events. Resolves to the milliseconds from the acknowledgement of each to its arrival at the good receiver. */
async function sendEvents(target: Target, good: Receiver, count: number): Promise<readonly number[]> {
  const { instance, livekit } = target;
  const sentAt = new Map<string, number>();
  for (let index = 0; index < count; index += 1) {
    const name = `hostile-${index}`;
    sentAt.set(name, Date.now());
    const status = await postMediaEvent(instance.url, roomFinished(name), livekit);
    if (status !== 200) throw new Error(`an event was answered ${status}`);
    await delay(PAUSE_MS);
  }
  await good.waitFor(() => true, count, 30_000).catch(() => {});
  return good.received.map(({ at, body }) => at - (sentAt.get(body.room.name) ?? at));
}
