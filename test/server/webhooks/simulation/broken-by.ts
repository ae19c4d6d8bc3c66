import type { Schedule } from '../../../support/simulation/schedule.ts';
import type { SimulatedDeliveries } from './simulated-deliveries.ts';
import type { SentRequest, SimulatedReceivers } from './simulated-receivers.ts';

/** The dispatcher's value. */
const LEASE_MS = 12_000;

type World = {
  readonly schedule: Schedule;
  readonly deliveries: SimulatedDeliveries;
  readonly receivers: SimulatedReceivers;
  /** How long ago an instance may have lost a lease that it still considers its own, because clocks differ. */
  readonly toleranceMs: number;
};

/** Yields the rules that a request violates at the moment in which it is sent. */
export function* brokenBy(
  { schedule, deliveries, receivers, toleranceMs }: World,
  request: SentRequest,
): Generator<string> {
  const { instance, webhookId, eventId } = request;
  const row = deliveries.all.find((one) => one.webhookId === webhookId && one.eventId === eventId);
  if (row === undefined) return yield `${eventId} is sent and not stored`;
  const before = receivers.requests.filter(
    (one) => one.instance === instance && one.webhookId === webhookId && one.eventId === eventId,
  );
  if (before.length >= (deliveries.grants.get(`${instance} ${row.id}`) ?? 0))
    yield `${instance} sends ${row.id} more often than it was given its lease`;
  if (before.some(({ isOver }) => !isOver)) yield `${instance} sends ${row.id} twice at once`;
  const othersSince = row.leaseUntil === null ? 0 : row.leaseUntil - LEASE_MS;
  const isOthers = row.leaseOwner !== null && row.leaseOwner !== instance;
  if (isOthers && schedule.clock.now() - othersSince >= toleranceMs)
    yield `${instance} sends ${row.id} under the lease of ${row.leaseOwner}`;
  yield* startsBroken({ deliveries, receivers }, request);
}

/**
 * Yields the earlier events of a room that an ordered webhook should have received, or that should have failed, before this
 * one.
 */
export function* overtakenBy(
  { deliveries, receivers }: Pick<World, 'deliveries' | 'receivers'>,
  { instance, webhookId, eventId }: SentRequest,
): Generator<string> {
  const ofWebhook = deliveries.all.filter((one) => one.webhookId === webhookId);
  const row = ofWebhook.find((one) => one.eventId === eventId);
  if (row === undefined || row.orderingKey === null) return;
  for (const earlier of ofWebhook) {
    if (earlier.orderingKey !== row.orderingKey) continue;
    if ((earlier.sequence ?? 0) >= (row.sequence ?? 0) || earlier.state === 'failed') continue;
    const hasArrived = receivers.requests.some(
      (one) => one.webhookId === webhookId && one.eventId === earlier.eventId && one.arrived === 'accepted',
    );
    if (!hasArrived) yield `${row.id}, sent by ${instance}, arrives before ${earlier.id}`;
  }
}

/** The events of a room wait for the first attempt of its room_started. */
function* startsBroken(
  { deliveries, receivers }: Pick<World, 'deliveries' | 'receivers'>,
  { instance, webhookId, eventId }: SentRequest,
): Generator<string> {
  const roomSid = deliveries.events.get(eventId)?.roomSid;
  const starts = receivers.requests.filter(
    (one) =>
      one.instance === instance &&
      one.webhookId === webhookId &&
      !one.isOver &&
      one.eventId !== eventId &&
      deliveries.events.get(one.eventId)?.roomSid === roomSid &&
      deliveries.events.get(one.eventId)?.type === 'room_started',
  );
  for (const start of starts) {
    const row = deliveries.all.find((one) => one.webhookId === webhookId && one.eventId === start.eventId);
    if (row?.roundAttempts === 0 && row.attempts === 0) yield `${eventId} overtakes ${start.eventId}`;
  }
}
