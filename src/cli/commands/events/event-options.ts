import { ALL_EVENTS, EVENT_NAMES, type EventName, isEventName } from '../../../contract/event-names.ts';
import { usageError } from '../../errors/cli-error.ts';
import { didYouMean } from '../../errors/did-you-mean.ts';
import { notEmpty, option } from '../../framework/parameters.ts';
import { pastMoment } from '../../framework/past-moment.ts';

/** Parses event names separated by commas, of either table; `*` means all. */
export function eventNames(text: string): readonly EventName[] {
  return text.split(',').map((part) => {
    const name = part.trim();
    if (isEventName(name)) return name;
    if (name === '') throw usageError('has an empty name', `choose from ${EVENT_NAMES.join(', ')}`);
    throw usageError(
      `${JSON.stringify(name)} is not an event name${didYouMean(name, KNOWN_EVENTS)}`,
      `choose from ${EVENT_NAMES.join(', ')}`,
    );
  });
}

/** Parses the name of one event, of either table. */
export function eventName(text: string): EventName {
  const [name, ...others] = eventNames(text);
  if (name !== undefined && name !== ALL_EVENTS && others.length === 0) return name;
  throw usageError(`${JSON.stringify(text)} is not one event`, `choose from ${KNOWN_EVENTS.join(', ')}`);
}

/** Names for completion, one by one; the help of `rtc events list` lists all of them. */
export const KNOWN_EVENTS = EVENT_NAMES.filter((name) => name !== ALL_EVENTS);

/** Options that select events. The API calls them types, a webhook events: both are accepted. */
export const EVENT_FILTER = {
  room: option('--room <room>', 'only events of this room', { parse: notEmpty, completes: 'rooms' }),
  events: option('--types, --events <names>', 'only these events, separated by commas', {
    parse: eventNames,
    completes: 'events',
  }),
  since: option('--since <when>', 'since then: 10m, 7d, or an instant', { parse: pastMoment }),
  cursor: option('--cursor <cursor>', 'continue from the nextCursor of an earlier response', {
    parse: notEmpty,
  }),
};
