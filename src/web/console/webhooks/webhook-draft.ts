import {
  ALL_EVENTS,
  type EventName,
  type EventType,
  findEventType,
  isEventName,
} from '../../../contract/event-names.ts';
import type { Webhook, WebhookOrdering, WebhookPatch } from '../../../contract/webhooks.ts';

/** The answers to the dialogs. `events` has registered names, some of which may be aliases; none means all events. */
export type Draft = {
  readonly url: string;
  readonly events: readonly EventName[];
  readonly ordering: WebhookOrdering;
};

export function toDraft({ url, events, ordering }: Pick<Webhook, 'url' | 'events' | 'ordering'>): Draft {
  return { url, ordering, events: events.includes(ALL_EVENTS) ? [] : events.filter(isEventName) };
}

export function hasEvent(events: readonly EventName[], type: EventType): boolean {
  return events.some((name) => findEventType(name) === type);
}

export function toggleEvent(events: readonly EventName[], type: EventType): readonly EventName[] {
  return hasEvent(events, type) ? events.filter((name) => findEventType(name) !== type) : [...events, type];
}

/** Returns the body of the update. Events that nobody touched are left out: a newer service may have names unknown here. */
export function toUpdate({ url, events, ordering }: Draft, before: Draft): WebhookPatch {
  return { url, ordering, ...(events === before.events ? {} : { events: orAll(events) }) };
}

/** Writes the options of `rtc webhooks update` that do the same as toUpdate. */
export function writeUpdateOptions({ events, ordering }: Draft, before: Draft): readonly string[] {
  const chosen = events === before.events ? [] : ['--events', orAll(events).join(',')];
  return [...chosen, ordering === 'room' ? '--ordered' : '--unordered'];
}

function orAll(events: readonly EventName[]): EventName[] {
  return events.length === 0 ? [ALL_EVENTS] : [...events];
}
