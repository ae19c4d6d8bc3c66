import type { NewDelivery, Webhook } from '../../../../src/server/webhooks/store.ts';

export function newWebhook(id: string, changes: Partial<Webhook> = {}): Webhook {
  return {
    id,
    url: `https://${id}.example/hook`,
    events: ['*'],
    secret: 'sealed',
    previousSecret: null,
    previousSecretUntil: null,
    ordering: 'none',
    createdBy: 'root',
    rooms: null,
    pausedAt: null,
    createdAt: 100,
    updatedAt: 100,
    ...changes,
  };
}

export function newDelivery(id: string, changes: Partial<NewDelivery> = {}): NewDelivery {
  return {
    id,
    webhookId: 'hook',
    eventId: 'event',
    eventName: 'room_started',
    dueAt: 1000,
    createdAt: 1000,
    leaseOwner: null,
    leaseUntil: null,
    orderingKey: null,
    sequence: null,
    ...changes,
  };
}
