import { type Static, Type } from 'typebox';
import { idParameter } from './ids.ts';
import { instantSchema } from './names.ts';
import { pageCursor, pageLimit } from './paging.ts';
import { webhookIdParameter } from './webhooks.ts';

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;

export const DeliveryParams = Type.Object({
  webhookId: webhookIdParameter,
  deliveryId: idParameter('Form dlv_<id>', 'dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'),
});

export const DeliveryListQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum(DELIVERY_STATES, { description: 'Only deliveries in this state' })),
    limit: pageLimit(200, 'default 50'),
    cursor: pageCursor(512),
  },
  { additionalProperties: false },
);
export type DeliveryListQuery = Static<typeof DeliveryListQuery>;

export const ReplayQuery = Type.Object(
  {
    since: Type.String({
      format: 'date-time',
      description: 'Failed deliveries created then or later',
      examples: ['2026-01-31T09:30:00.000Z'],
    }),
  },
  { additionalProperties: false },
);

const AttemptSchema = Type.Object({
  number: Type.Integer({ examples: [1] }),
  startedAt: instantSchema('When it was sent'),
  durationMs: Type.Integer({ examples: [85] }),
  statusCode: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Null when nobody answered',
    examples: [200],
  }),
  error: Type.Union([Type.String(), Type.Null()], { description: 'Why it counts as failed' }),
  responseBody: Type.Union([Type.String(), Type.Null()], {
    description: 'What the receiver answered, at most 4 KiB',
  }),
});

export const DeliverySchema = Type.Object(
  {
    id: Type.String({ description: 'Form dlv_<id>', examples: ['dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
    webhookId: Type.String({ examples: ['wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
    eventId: Type.String({ examples: ['evt_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
    event: Type.String({ examples: ['room_finished'] }),
    status: Type.Enum(DELIVERY_STATES),
    createdAt: instantSchema('When the event was stored'),
    nextAttemptAt: Type.Union([instantSchema('When it will be tried'), Type.Null()], {
      description: 'Null when it is not pending',
    }),
    attempts: Type.Array(AttemptSchema),
  },
  { $id: 'Delivery' },
);
export type Delivery = Static<typeof DeliverySchema>;

export const DeliveryListSchema = Type.Object(
  { deliveries: Type.Array(DeliverySchema), nextCursor: Type.Union([Type.String(), Type.Null()]) },
  { $id: 'DeliveryList' },
);
export type DeliveryList = Static<typeof DeliveryListSchema>;

export const ReplaySchema = Type.Object(
  { replayed: Type.Integer({ description: 'Deliveries that are pending again', examples: [3] }) },
  { $id: 'Replay' },
);
export type Replay = Static<typeof ReplaySchema>;
