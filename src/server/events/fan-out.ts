import { type Loop, startLoop } from '../platform/jobs/loop.ts';
import type { Log } from '../platform/log.ts';
import type { ChangeFeed } from '../platform/storage/changes.ts';
import type { AppendEventsDeps } from './append-events.ts';
import { dispatchJobs, type OpenFanOut, packJobs, planDeliveries, toFanOut } from './plan-deliveries.ts';
import type { EventStores, FanOut } from './store.ts';

/*
 * Stores the deliveries of an event that has more webhooks than one transaction may store deliveries for. The event's own
 * transaction stores the first deliveries and a row with the position to continue from. This loop stores the others, a
 * thousand at a time, so that requests and other writers get their turns in between. Later events queue behind it, so that a
 * webhook gets its deliveries in the order of the events. A crash loses nothing: any instance continues from the row.
 */

/** Maximum fan-out rows that one transaction reads. Each may need only a few deliveries. */
const FAN_OUTS_AT_ONCE = 100;
/** The instance that stored an event continues its fan-out at once. Other instances help after this time. */
const HELP_AFTER_MS = 1_000;
/** The store is read at least this often, because a notification may be lost. */
const MAX_SLEEP_MS = 120_000;

export type FanOutDeps = AppendEventsDeps & { readonly log: Log; readonly changes: ChangeFeed };

export function startFanOut(deps: FanOutDeps): Pick<Loop, 'close'> {
  const { clock, log, changes } = deps;
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'storing further deliveries of events failed; trying again',
    round: async (signal) => {
      while (!signal.aborted && (await storeNextDeliveries(deps)));
      return MAX_SLEEP_MS;
    },
  });
  const unsubscribe = changes.subscribe('fanOuts', (origin) => {
    if (origin === 'here') loop.wake();
    else loop.wakeWithin(HELP_AFTER_MS);
  });
  return {
    close: async () => {
      unsubscribe();
      await loop.close();
    },
  };
}

/** Stores the next deliveries and returns whether there are more. */
async function storeNextDeliveries(deps: FanOutDeps): Promise<boolean> {
  if (!(await deps.store.fanOuts.isAnyOpen())) return false;
  const { jobs, waiting } = await deps.store.transaction(async (store) => {
    const rows = await store.fanOuts.lockNext(FAN_OUTS_AT_ONCE);
    const open = await openFanOuts(store, rows);
    const plan = planDeliveries(deps, await store.webhooks.listRegistrations(), open);
    const { deliveries, parcel } = packJobs(plan.jobs);
    const waiting = await store.deliveries.insert(deliveries, parcel);
    const [next] = plan.rest;
    const remaining = new Set(plan.rest.map(({ event }) => event.id));
    await store.fanOuts.delete(
      rows.filter(({ eventId }) => !remaining.has(eventId)).map(({ eventId }) => eventId),
    );
    if (next !== undefined) await store.fanOuts.advance(toFanOut(next));
    return { jobs: plan.jobs, waiting };
  });
  dispatchJobs(deps.dispatcher, jobs, waiting);
  return true;
}

/**
 * Loads the events of fan-outs. An event that another instance had stored before has no row with this id, and needs no
 * deliveries.
 */
async function openFanOuts(store: EventStores, rows: readonly FanOut[]): Promise<readonly OpenFanOut[]> {
  const events = await store.events.findAll(rows.map(({ eventId }) => eventId));
  const eventsById = new Map(events.map((event) => [event.id, event]));
  return rows.flatMap(({ eventId, afterCreatedAt, afterId }) => {
    const event = eventsById.get(eventId);
    if (event === undefined) return [];
    const isStarted = afterCreatedAt !== null && afterId !== null;
    return [{ event, after: isStarted ? { createdAt: afterCreatedAt, id: afterId } : undefined }];
  });
}
