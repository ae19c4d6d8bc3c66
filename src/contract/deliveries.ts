import { type Static, Type } from 'typebox';
import { idParameter, instantSchema } from './names.ts';
import { nextCursor, PAGE } from './paging.ts';
import { closedQuery, named, optionalInstant, orNull } from './schema.ts';
import { webhookIdParameter } from './webhooks.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;

export const DeliveryParams = Type.Object({
  webhookId: webhookIdParameter,
  deliveryId: idParameter('Form dlv_<id>', 'dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'),
});

export const DeliveryQuery = closedQuery({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 25,
      description: 'Seconds to wait for the end of a pending delivery',
    }),
  ),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;

export const DeliveryListQuery = closedQuery({
  status: Type.Optional(Type.Enum(DELIVERY_STATES, { description: 'Only deliveries in this state' })),
  eventId: Type.Optional(
    idParameter(
      'Only the delivery of this event, while the event is stored',
      'evt_01KAJ3F5N8QZ7V2M4T6W8Y0B1C',
    ),
  ),
  ...PAGE,
});
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;

export const ReplayQuery = closedQuery({
  since: instantSchema('Only failed deliveries that were created since then'),
});

/** A webhook's health by its newest deliveries that were tried, at most WEBHOOK_HEALTH_WINDOW of them. */
export const WEBHOOK_HEALTHS = ['unused', 'working', 'unsteady', 'failing'] as const;
export const WEBHOOK_HEALTH_WINDOW = 20;

export const WebhookStatsQuery = closedQuery({
  since: optionalInstant(
    'Only deliveries created since then; default 24 hours before until',
    '2026-01-31T09:30:00.000Z',
  ),
  until: optionalInstant('Only deliveries created before then; default now', '2026-02-01T09:30:00.000Z'),
});
export type WebhookStatsQuery = Static<typeof WebhookStatsQuery>;

const deliveryCounts = {
  delivered: Type.Integer({ description: 'The receiver accepted them', examples: [118] }),
  failed: Type.Integer({ description: 'They failed at their last attempt', examples: [1] }),
  pending: Type.Integer({ description: 'They are sent, retried or waiting', examples: [2] }),
};

export const WebhookStatsSchema = named('WebhookStats', 'What became of the deliveries of a webhook', {
  webhookId: Type.String({ description: 'Form wh_<id>', examples: ['wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
  health: Type.Enum(WEBHOOK_HEALTHS, {
    description: `By the last attempts of the newest ${WEBHOOK_HEALTH_WINDOW} deliveries that were tried, whatever the period: working if all were accepted, unsteady if some were, failing if none was, unused if there is none`,
  }),
  since: instantSchema('Start of the period'),
  until: instantSchema('End of the period'),
  ...deliveryCounts,
  isComplete: Type.Boolean({
    description:
      'Whether every delivery of the period was counted; of more than 50,000 in one state only the newest are',
    examples: [true],
  }),
  retrying: Type.Integer({
    description: 'Pending deliveries that the receiver did not accept yet, whatever the period',
    examples: [1],
  }),
  oldestPendingAt: orNull(
    instantSchema(
      'When the oldest pending delivery was created; of more than 50,000, the oldest of the newest',
    ),
    'Null if none is pending',
  ),
  periods: Type.Array(Type.Object({ startedAt: instantSchema('Start of this part'), ...deliveryCounts }), {
    description: 'The same counts for 48 equal parts of the period, the oldest first',
  }),
});
export type WebhookStats = Static<typeof WebhookStatsSchema>;

const AttemptSchema = Type.Object({
  number: Type.Integer({ description: 'Number of the attempt, from 1', examples: [1] }),
  startedAt: instantSchema('When the request was sent'),
  durationMs: Type.Integer({ description: 'Duration in milliseconds', examples: [85] }),
  statusCode: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Null if there was no response',
    examples: [200],
  }),
  error: orNull(Type.String(), 'Why the attempt failed'),
  responseBody: orNull(Type.String(), 'The response of the receiver, at most 4 KiB'),
});

export const DeliverySchema = named('Delivery', 'One event for one webhook', {
  id: Type.String({ description: 'Form dlv_<id>', examples: ['dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
  webhookId: Type.String({ description: 'Form wh_<id>', examples: ['wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
  eventId: Type.String({
    description: 'Id of the event, form evt_<id>',
    examples: ['evt_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
  }),
  event: Type.String({ description: 'Event name, as it is delivered', examples: ['room_finished'] }),
  status: Type.Enum(DELIVERY_STATES, {
    description: 'failed: after the last attempt; cancelled: its webhook was deleted before',
  }),
  createdAt: instantSchema('When the event was stored'),
  nextAttemptAt: orNull(
    instantSchema('When it will be tried'),
    'Null if it is not pending, or if it is waiting',
  ),
  waiting: Type.Boolean({
    description: 'Whether it waits for an earlier delivery of its room, because its webhook asks for order',
    examples: [false],
  }),
  attempts: Type.Array(AttemptSchema, {
    description: 'Every attempt, oldest first; the newest 20 after many replays',
  }),
});
export type Delivery = Static<typeof DeliverySchema>;

export const DeliveryListSchema = named('DeliveryList', 'A page of deliveries', {
  deliveries: Type.Array(DeliverySchema, { description: 'The deliveries' }),
  nextCursor,
});
export type DeliveryList = Static<typeof DeliveryListSchema>;

export const ReplaySchema = named('Replay', 'The replayed deliveries', {
  replayed: Type.Integer({ description: 'Deliveries that are pending again', examples: [3] }),
});
export type Replay = Static<typeof ReplaySchema>;
