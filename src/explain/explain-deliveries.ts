import type { RtcClient } from '../client/client.ts';
import { plural } from '../contract/amounts.ts';
import type { Delivery } from '../contract/deliveries.ts';
import type { Event } from '../contract/events.ts';
import { isRedirect } from '../contract/http-responses.ts';
import type { Webhook } from '../contract/webhooks.ts';
import type { Moment, Part } from './explanation.ts';

/** Maximum webhooks that are read; each takes two requests at least. */
const MAX_WEBHOOKS = 50;
/** Maximum failed deliveries of a webhook that are read, and of pending ones. */
const MAX_DELIVERIES = 2_000;

export type Reading = { readonly client: RtcClient; readonly signal: AbortSignal };

/**
 * Explains the deliveries of these events that have failed, or that were tried and are still pending. One moment for each
 * webhook names the beginning, because a receiver that is down fails all of them. What was not read is named.
 */
export async function explainDeliveries(reading: Reading, events: readonly Event[]): Promise<Part> {
  const [first] = events.map(({ timestamp }) => timestamp).toSorted();
  if (first === undefined) return {};
  const eventIds = new Set(events.map(({ id }) => id));
  const { client, signal } = reading;
  const { webhooks, nextCursor } = await client.webhooks.list({ limit: MAX_WEBHOOKS, signal });
  const parts: Part[] = [];
  for (const webhook of webhooks) {
    const lists = await Promise.all(
      (['failed', 'pending'] as const).map(async (status) => ({
        status,
        ...(await readSince(reading, { webhook, status, first })),
      })),
    );
    const stuck = lists
      .flatMap(({ deliveries }) => deliveries)
      .filter(({ eventId }) => eventIds.has(eventId));
    const held = stuck.filter(({ status }) => status === 'pending').length;
    if (webhook.pausedAt && held > 0) parts.push(partOfPaused(webhook, held));
    const tried = stuck.filter(({ attempts }) => attempts.length > 0);
    if (tried.length > 0) parts.push(partOfStuck(webhook, tried));
    parts.push({
      next: lists
        .filter(({ isCut }) => isCut)
        .map(({ status }) => ({
          text: `only the newest ${MAX_DELIVERIES} ${status} deliveries of webhook ${webhook.id} were read; see the others`,
          command: `rtc webhooks deliveries ${webhook.id} --status ${status}`,
        })),
    });
  }
  const others = {
    text: `only ${MAX_WEBHOOKS} webhooks were looked at; see the others`,
    command: 'rtc webhooks list',
  };
  return {
    timeline: parts.flatMap((part) => part.timeline ?? []),
    troubles: parts.flatMap((part) => part.troubles ?? []),
    next: [...parts.flatMap((part) => part.next ?? []), ...(typeof nextCursor === 'string' ? [others] : [])],
  };
}

type Wanted = {
  readonly webhook: Webhook;
  readonly status: Delivery['status'];
  /** The instant of the first event, ISO 8601: no delivery of the events is older than a few moments before. */
  readonly first: string;
};

/** An event is stored some time after it happened, never before; clocks may differ. */
const CLOCKS_APART_MS = 300_000;

/** Reads deliveries from the newest back to the first event. */
async function readSince(
  { client, signal }: Reading,
  { webhook, status, first }: Wanted,
): Promise<{ readonly deliveries: readonly Delivery[]; readonly isCut: boolean }> {
  const earliestMs = Date.parse(first) - CLOCKS_APART_MS;
  const deliveries: Delivery[] = [];
  for await (const delivery of client.deliveries.all(webhook.id, { status, signal })) {
    if (Date.parse(delivery.createdAt) < earliestMs) break;
    if (deliveries.length === MAX_DELIVERIES) return { deliveries, isCut: true };
    deliveries.push(delivery);
  }
  return { deliveries, isCut: false };
}

function partOfPaused({ id, url, pausedAt }: Webhook, held: number): Part {
  const waiting = plural(held, 'delivery waits', 'deliveries wait');
  return {
    troubles: [`webhook ${id} (${url}) has been paused since ${pausedAt}: ${waiting}`],
    next: [resume(id)],
  };
}

export function resume(webhookId: string) {
  return { text: 'let it receive again, first what it missed', command: `rtc webhooks resume ${webhookId}` };
}

function partOfStuck(webhook: Webhook, stuck: readonly Delivery[]): Part {
  const failed = stuck.filter(({ status }) => status === 'failed').length;
  const attempts = stuck.flatMap((delivery) =>
    delivery.attempts.map((attempt) => ({ delivery, attempt, atMs: Date.parse(attempt.startedAt) })),
  );
  const inOrder = attempts.toSorted((one, other) => one.atMs - other.atMs);
  const [first, last] = [inOrder[0], inOrder.at(-1)];
  if (first === undefined || last === undefined) return {};
  const pending = stuck.length - failed;
  const counts = [
    ...(failed === 0 ? [] : [`${plural(failed, 'delivery', 'deliveries')} failed`]),
    ...(pending === 0
      ? []
      : [
          `${plural(pending, 'delivery is', 'deliveries are')} ${webhook.pausedAt === null ? 'being retried' : 'waiting'}`,
        ]),
  ];
  const moment = ({ delivery, attempt }: typeof first): Moment => ({
    at: attempt.startedAt,
    text: `webhook ${webhook.id} did not accept ${delivery.event}: ${describeReason(attempt)}`,
    source: 'delivery',
    id: delivery.id,
    isTrouble: true,
  });
  return {
    timeline: first === last ? [moment(first)] : [moment(first), moment(last)],
    troubles: [
      `webhook ${webhook.id} (${webhook.url}) does not accept events: ${counts.join(', ')}. At the last attempt ${describeReason(last.attempt)}`,
    ],
    next: [
      mend(webhook.id, last.attempt),
      ...(failed === 0
        ? []
        : [
            {
              text: 'when it works, replay the failed deliveries',
              command: `rtc webhooks replay ${webhook.id} --since ${earliest(stuck)}`,
            },
          ]),
    ],
  };
}

function earliest(deliveries: readonly Delivery[]): string {
  return deliveries.map(({ createdAt }) => createdAt).toSorted()[0] ?? '';
}

export type Attempt = Delivery['attempts'][number];

/** Describes in a few words why an attempt counts as failed. */
export function describeReason({ statusCode, error }: Attempt): string {
  if (statusCode === null) return error ?? 'nobody responded';
  const more = error === null || error.includes(`responded with ${statusCode}`) ? '' : `: ${error}`;
  return `it responded with ${statusCode}${more}`;
}

/** The errors of a receiver that was too slow, or did not end its response, as webhook-sender.ts writes them. */
const SLOW = /^(no response|the response did not end) (within|in time)/;

/** Returns the step after which the next attempt succeeds, by the error of the last one. */
export function mend(webhookId: string, { statusCode, error }: Attempt) {
  const test = (text: string) => ({ text, command: `rtc webhooks test ${webhookId}` });
  const move = (text: string) => ({ text, command: `rtc webhooks update ${webhookId} URL` });
  const said = error ?? '';
  if (SLOW.test(said)) {
    return test('let the receiver end its response within 10 s and do long work afterwards, then test it');
  }
  if (statusCode === null) {
    if (/\bTLS\b/.test(said)) {
      return test("correct the receiver's certificate, or the scheme of its address, then test it");
    }
    if (/delivery|ENCRYPTION_KEY/.test(said)) {
      return test('mend the service: its log has more about this delivery, then test the webhook');
    }
    return test('start the receiver, or correct its address, then test it');
  }
  if (statusCode === 401 || statusCode === 403) {
    return test('the receiver refuses the signature: give it the current secret, then test it');
  }
  if (isRedirect(statusCode)) {
    return move('redirects are not followed: register the address that they lead to');
  }
  if (statusCode === 404 || statusCode === 410 || statusCode === 405) {
    return move('nothing accepts POSTs at this path: correct the address');
  }
  return test("check the receiver's log, correct the error, then test it");
}
