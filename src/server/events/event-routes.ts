import { Type } from 'typebox';
import { ServiceError } from '../../contract/errors.ts';
import {
  ALL_EVENTS,
  EVENT_NAMES,
  type EventType,
  eventTypeOf,
  isEventName,
} from '../../contract/event-names.ts';
import { EventListSchema } from '../../contract/events.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { LATEST, type ListEventsDeps, listEvents } from './list-events.ts';

const EventsQuery = Type.Object(
  {
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: `nextCursor of the page before, or ${LATEST} for one from which only what is yet to come follows`,
      }),
    ),
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only events stored then or later' }),
    ),
    room: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Only events of this room' }),
    ),
    types: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: 'Only these event names, separated by commas',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Page size; default 100' })),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 25,
        description: 'Seconds to wait for an event when there is none',
      }),
    ),
  },
  { additionalProperties: false },
);

const DEFAULT_LIMIT = 100;

export function eventRoutes(deps: ListEventsDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/events',
      operationId: 'listEvents',
      tag: 'events',
      summary: 'Read the stored events in their order',
      description:
        'Who goes on by nextCursor misses none, also after the last one: with `wait` the answer comes as soon as there is an event.',
      security: 'signed',
      query: EventsQuery,
      success: { 200: { description: 'Events, oldest first', schema: EventListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query }) => ({
        status: 200,
        body: await listEvents(deps, {
          cursor: query.cursor,
          since: query.since === undefined ? undefined : Date.parse(query.since),
          room: query.room,
          types: query.types === undefined ? undefined : parseTypes(query.types),
          limit: query.limit ?? DEFAULT_LIMIT,
          waitSeconds: query.wait ?? 0,
        }),
      }),
    }),
  ];
}

/** Names of either table; `*` is all. Throws invalid-request for an unknown one. */
function parseTypes(text: string): readonly EventType[] | undefined {
  const names = text.split(',');
  const unknown = names.find((name) => !isEventName(name));
  if (unknown !== undefined) {
    const detail = `must be event names separated by commas: ${EVENT_NAMES.join(', ')}`;
    throw new ServiceError('invalid-request', `Parameter types ${detail}.`, {
      errors: [{ parameter: 'types', detail }],
    });
  }
  if (names.includes(ALL_EVENTS)) return undefined;
  return names.flatMap((name) => eventTypeOf(name) ?? []);
}
