import {
  ALL_EVENTS,
  EVENT_NAMES,
  type EventType,
  findEventType,
  isEventName,
} from '../../contract/event-names.ts';
import { type EventList, EventListQuery, EventListSchema } from '../../contract/events.ts';
import { refusedParameter } from '../platform/http/refusals.ts';
import { chooseRenamed, defineRoute, type Route } from '../platform/http/route.ts';
import { createEventLister, type ListEventsDeps } from './list-events.ts';

const DEFAULT_LIMIT = 100;

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export function eventRoutes(deps: ListEventsDeps): readonly Route[] {
  const listEvents = createEventLister(deps);
  const encode = encodeOnce();
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/events',
      operationId: 'listEvents',
      tag: 'events',
      summary: 'List the stored events in order',
      description:
        'Oldest first, or newest first with `order=newest`. If you continue with nextCursor, you miss no event. From the oldest on, it works after the last event too: with `wait`, the response comes as soon as there is a new one.',
      scopes: ['read', 'webhooks'],
      ofRooms: 'filtered',
      query: EventListQuery,
      success: { 200: { description: 'Events in the order that was asked for', schema: EventListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query, caller }) => ({
        status: 200,
        headers: JSON_TYPE,
        body: encode(
          await listEvents({
            cursor: query.cursor,
            since: query.since === undefined ? undefined : Date.parse(query.since),
            room: chooseRenamed(query, { name: 'roomId', earlier: 'room' }),
            rooms: caller?.rooms,
            types: query.types === undefined ? undefined : parseTypes(query.types),
            limit: query.limit ?? DEFAULT_LIMIT,
            order: query.order,
            waitSeconds: query.wait ?? 0,
          }),
        ),
      }),
    }),
  ];
}

/**
 * Encodes the JSON of a page once for all readers who wait for the same events. It is sent as it is, without the route's
 * serializer.
 */
function encodeOnce(): (page: EventList) => string {
  const encoded = new WeakMap<EventList, string>();
  return (page) => {
    const known = encoded.get(page);
    if (known !== undefined) return known;
    const json = JSON.stringify(page);
    encoded.set(page, json);
    return json;
  };
}

/** Accepts the names of either table of event names, and `*` for all. Throws invalid-request for an unknown one. */
function parseTypes(text: string): readonly EventType[] | undefined {
  const names = text.split(',');
  const unknown = names.find((name) => !isEventName(name));
  if (unknown !== undefined) {
    throw refusedParameter('types', `must be event names separated by commas: ${EVENT_NAMES.join(', ')}`);
  }
  if (names.includes(ALL_EVENTS)) return undefined;
  return names.flatMap((name) => findEventType(name) ?? []);
}
