import { expect, it } from 'vitest';
import { planDeliveries } from '../../../src/server/events/plan-deliveries.ts';
import type { NewEvent } from '../../../src/server/events/store.ts';
import { newWebhook } from '../platform/storage/webhook-records.ts';

const DAY_MS = 86_400_000;
const PAUSED_AT = 1_000;

const event: NewEvent = {
  id: 'event',
  sourceId: 'EV_event',
  type: 'room_started',
  room: 'demo',
  roomSid: 'RM_1',
  sequence: 1,
  payload: '{"room":"demo"}',
  occurredAt: 900,
  createdAt: PAUSED_AT,
  traceparent: null,
};

const dispatcher = {
  leaseFor: () => ({ leaseOwner: 'this instance', leaseUntil: 9_999 }),
};

it.each([
  [PAUSED_AT, ['working', 'paused']],
  [PAUSED_AT + 3 * DAY_MS - 1, ['working', 'paused']],
  [PAUSED_AT + 3 * DAY_MS, ['working']],
])('plans deliveries to a paused webhook without a lease, for three days: at %i', (createdAt, receivers) => {
  const webhooks = [newWebhook('working'), newWebhook('paused', { pausedAt: PAUSED_AT })];
  let number = 0;
  const ids = {
    next: () => {
      number += 1;
      return String(number);
    },
  };
  const open = [{ event: { ...event, createdAt }, after: undefined }];
  const { jobs, rest } = planDeliveries({ ids, dispatcher }, webhooks, open);
  expect(rest).toEqual([]);
  expect(jobs.map(({ delivery }) => delivery.webhookId)).toEqual(receivers);
  expect(jobs.map(({ delivery }) => delivery.leaseOwner)).toEqual(
    receivers.map((id) => (id === 'paused' ? null : 'this instance')),
  );
});
