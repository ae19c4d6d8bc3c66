import { TEST_EVENT } from '../../contract/event-names.ts';
import type { Hint } from '../../contract/hint.ts';
import { isRedirect } from '../../contract/http-responses.ts';
import type { WebhookTest } from '../../contract/webhooks.ts';
import type { IdGenerator } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { SecretBox } from '../platform/secrets/encryption-keys.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import { attemptDelivery, BuildErrorLog } from './dispatcher/attempt-delivery.ts';
import { type BuildDeliveryDeps, openSigningKeys, type SigningKeys } from './dispatcher/build-delivery.ts';
import type { WebhookSender } from './sender/sender.ts';
import type { DeliveryJob, NewDelivery, WebhookStores } from './store.ts';
import { requireWebhook } from './webhooks.ts';

/** The part of the event store that a webhook test needs. The event of a test has no room and one delivery. */
interface TestEventStore {
  insertAll(events: readonly TestEvent[], deliveries: readonly NewDelivery[]): Promise<unknown>;
}

type TestEvent = {
  readonly id: string;
  readonly sourceId: string;
  readonly type: string;
  readonly room: null;
  readonly roomSid: null;
  readonly sequence: null;
  readonly payload: string;
  /** Unix milliseconds. */
  readonly occurredAt: number;
  readonly createdAt: number;
  readonly traceparent: string | null;
};

export type TestWebhookDeps = BuildDeliveryDeps & {
  readonly store: UnitOfWork<WebhookStores & { readonly events: TestEventStore }>;
  readonly ids: IdGenerator;
  readonly secretBox: SecretBox;
  readonly sender: WebhookSender;
  readonly log: Log;
  readonly tracing?: Tracing | undefined;
};

/** Longer than a request may take, so that no instance claims the delivery in the meantime. */
const TEST_LEASE_MS = 30_000;

/**
 * Sends a test event in one delivery with one attempt, which the delivery log lists like any other. Throws
 * webhook-not-found, and secret-unavailable when this instance cannot sign it; then nothing is stored.
 */
export async function testWebhook(deps: TestWebhookDeps, webhookId: string): Promise<WebhookTest> {
  const { job, keys } = await storeTest(deps, webhookId);
  const outcome = await attemptDelivery({ ...deps, buildErrors: new BuildErrorLog(deps) }, job, keys);
  await deps.store.deliveries.recordOutcomes(job.delivery.leaseOwner ?? '', [outcome]);
  const { statusCode, error } = outcome.attempt;
  const delivered = outcome.next.state === 'delivered';
  if (statusCode === null) return { delivered, statusCode: 0, error: error ?? 'no response' };
  if (delivered || error === null) return { delivered, statusCode };
  if (isRedirect(statusCode)) return { delivered, statusCode, error, hint: registerOther(webhookId) };
  // Any other status explains the failure by itself.
  const isBroken = statusCode >= 200 && statusCode < 300;
  return { delivered, statusCode, ...(isBroken ? { error } : {}) };
}

function registerOther(webhookId: string): Hint {
  return {
    text: 'redirects are not followed: register the address that they lead to',
    command: `rtc webhooks update ${webhookId} URL`,
  };
}

const UNTRIED = { state: 'pending', waiting: null, attempts: 0, roundAttempts: 0, endedAt: null } as const;

async function storeTest(
  { store, ids, clock, tracing, secretBox }: TestWebhookDeps,
  webhookId: string,
): Promise<{ readonly job: DeliveryJob; readonly keys: SigningKeys }> {
  const now = clock.now();
  const id = `evt_${ids.next()}`;
  const traceparent = tracing?.current() ?? null;
  return await store.transaction(async (inside) => {
    const webhook = await requireWebhook(inside, webhookId);
    const keys = openSigningKeys(secretBox, webhook, now);
    const payload = JSON.stringify({
      room: null,
      timestamp: new Date(now).toISOString(),
      id,
      sequence: null,
    });
    const event: TestEvent = {
      id,
      sourceId: id,
      type: TEST_EVENT,
      payload,
      occurredAt: now,
      createdAt: now,
      room: null,
      roomSid: null,
      sequence: null,
      traceparent,
    };
    const delivery: NewDelivery = {
      id: `dlv_${ids.next()}`,
      webhookId,
      eventId: id,
      eventName: TEST_EVENT,
      dueAt: now,
      createdAt: now,
      leaseOwner: `test-${ids.next()}`,
      leaseUntil: now + TEST_LEASE_MS,
      orderingKey: null,
      sequence: null,
    };
    await inside.events.insertAll([event], [delivery]);
    const job = {
      delivery: { ...delivery, ...UNTRIED },
      webhook,
      event: { id, roomSid: null, payload, occurredAt: now, traceparent },
    };
    return { job, keys };
  });
}
