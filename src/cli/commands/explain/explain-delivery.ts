import type { Delivery } from '../../../contract/deliveries.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { plural } from '../../terminal/time.ts';
import { type Attempt, describeReason, mend, type Reading } from './explain-deliveries.ts';
import type { Explanation, Moment, NextStep } from './explanation.ts';
import { ifFound, momentOfEvent, readEvents } from './timeline.ts';

/** Searches all webhooks, because the id of a delivery does not name its webhook. Returns undefined when none has it. */
export async function findDelivery(
  { client, signal }: Reading,
  id: string,
): Promise<{ readonly delivery: Delivery; readonly webhook: Webhook } | undefined> {
  for await (const webhook of client.webhooks.all({ signal })) {
    const delivery = await ifFound(client.deliveries.get(webhook.id, id, { signal }));
    if (delivery !== undefined) return { delivery, webhook };
  }
  return undefined;
}

type Found = { readonly delivery: Delivery; readonly webhook: Webhook };

/** Explains a delivery: its event, every attempt, and why it has not succeeded. */
export async function explainDelivery(reading: Reading, { delivery, webhook }: Found): Promise<Explanation> {
  const { id, eventId, attempts, status, createdAt } = delivery;
  const events = await readEvents(reading, { sinceMs: Date.parse(createdAt) });
  const event = events.find((one) => one.id === eventId);
  const moment = event === undefined ? undefined : momentOfEvent(event);
  const room = event?.room == null ? '' : ` in room ${event.room.name}`;
  const stored: Moment = {
    at: createdAt,
    text: `${delivery.event}${room}${moment === undefined ? '' : `: ${moment.text}`}`,
    source: 'event',
    id: eventId,
    isTrouble: false,
  };
  const last = attempts.at(-1);
  const isThrough = status === 'delivered';
  return {
    subject: { kind: 'delivery', id },
    headline: writeHeadline(delivery, webhook),
    timeline: [stored, ...attempts.map((attempt) => momentOfAttempt(id, attempt))],
    troubles:
      isThrough || last === undefined ? [] : [`the receiver did not accept it: ${describeAttempt(last)}`],
    next: isThrough ? [] : suggestNext(delivery, last),
  };
}

function writeHeadline(
  { id, event, status, waiting, attempts, nextAttemptAt }: Delivery,
  { id: webhookId, url }: Webhook,
): string {
  const what = `Delivery ${id} of ${event} to webhook ${webhookId} (${url})`;
  const tries = plural(attempts.length, 'attempt');
  if (status === 'delivered') return `${what} was accepted by the receiver at attempt ${attempts.length}.`;
  if (status === 'failed') return `${what} failed after ${tries}; it is not retried automatically.`;
  if (status === 'cancelled') return `${what} was cancelled: its webhook was deleted.`;
  if (waiting) return `${what} waits for an earlier delivery of its room, which its webhook wants in order.`;
  const due = nextAttemptAt === null ? '' : `; the next one is due at ${nextAttemptAt}`;
  return `${what} has not been delivered yet, after ${tries}${due}.`;
}

function momentOfAttempt(id: string, attempt: Attempt): Moment {
  const isTaken = attempt.error === null && attempt.statusCode !== null && attempt.statusCode < 300;
  const outcome = isTaken ? `the receiver responded with ${attempt.statusCode}` : describeAttempt(attempt);
  return {
    at: attempt.startedAt,
    text: `attempt ${attempt.number}: ${outcome}, after ${attempt.durationMs} ms`,
    source: 'delivery',
    id,
    isTrouble: !isTaken,
  };
}

const SHOWN_BODY = 120;

/** Includes the beginning of the receiver's response, which usually has the reason. */
function describeAttempt(attempt: Attempt): string {
  const body = attempt.responseBody?.trim() ?? '';
  if (body === '') return describeReason(attempt);
  const shown = body.length > SHOWN_BODY ? `${body.slice(0, SHOWN_BODY)}…` : body;
  return `${describeReason(attempt)} "${shown}"`;
}

function suggestNext({ id, webhookId, status }: Delivery, last: Attempt | undefined): readonly NextStep[] {
  const mending = last === undefined ? [] : [mend(webhookId, last)];
  if (status === 'pending') {
    return [
      ...mending,
      { text: 'or wait until it is over', command: `rtc wait delivery ${webhookId} ${id}` },
    ];
  }
  if (status === 'cancelled') return [];
  return [
    ...mending,
    { text: 'when it works, send it again', command: `rtc webhooks replay ${webhookId} ${id}` },
  ];
}
