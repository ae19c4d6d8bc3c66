import { type Static, Type } from 'typebox';
import { LATEST_CURSOR } from './event-names.ts';
import { EventSchema } from './event-payloads.ts';
import { pageLimit } from './paging.ts';
import { closedQuery, named, optionalInstant } from './schema.ts';

const EVENT_ORDERS = ['oldest', 'newest'] as const;
export type EventOrder = (typeof EVENT_ORDERS)[number];

export { type Event, EventSchema } from './event-payloads.ts';

export const EventListSchema = named('EventList', 'A page of events', {
  events: Type.Array(EventSchema, {
    description: 'The events, oldest first, or newest first by order=newest',
  }),
  nextCursor: Type.String({
    description:
      'Where to continue, also after the last event: later events come after it. With order=newest earlier events do, and an empty page is the end',
  }),
});
export type EventList = Static<typeof EventListSchema>;

export const EventListQuery = closedQuery({
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: `nextCursor of the previous page, or ${LATEST_CURSOR} to get later events only`,
    }),
  ),
  since: optionalInstant('Only events stored at this instant or later'),
  roomId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'Only events of this room' }),
  ),
  room: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'The earlier name of roomId',
      deprecated: true,
    }),
  ),
  types: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'Only these event names, separated by commas',
    }),
  ),
  limit: pageLimit(1000, 'default 100'),
  order: Type.Optional(
    Type.Enum(EVENT_ORDERS, {
      description: 'Which events come first; default oldest, or as in the page that the cursor is of',
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 25,
      description: 'Seconds to wait for an event when there is none; not with order=newest',
    }),
  ),
});
export type EventListQuery = Static<typeof EventListQuery>;
