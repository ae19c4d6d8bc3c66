/*
 * The specification has two names for some events: one for registrations of webhooks, and one in the delivery table. Both
 * are accepted. When a webhook registers both names of an event, the event is delivered once. It has the name that the
 * webhook registered; for `*`, or when both names are registered, the name of the delivery table.
 */

/**
 * The names of the delivery table, and room_created, room_closing, planned_start_failed, room_join_refused,
 * transcription_completed, transcription_failed and those of waiting people and of broadcasts, which it lacks.
 */
export const EVENT_TYPES = [
  'room_created',
  'room_started',
  'room_closing',
  'planned_start_failed',
  'room_finished',
  'participant_joined',
  'participant_left',
  'participant_waiting',
  'participant_admitted',
  'participant_denied',
  'room_join_refused',
  'track_published',
  'track_unpublished',
  'egress_started',
  'egress_ended',
  'broadcast_started',
  'broadcast_url_failed',
  'broadcast_ended',
  'ingress_started',
  'ingress_ended',
  'transcription_completed',
  'transcription_failed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Names that a webhook may register, for events that the delivery table calls otherwise. */
export const EVENT_ALIASES = {
  room_closed: 'room_finished',
  recording_started: 'egress_started',
  recording_stopped: 'egress_ended',
  ingress_stopped: 'ingress_ended',
} as const satisfies Readonly<Record<string, EventType>>;
export type EventAlias = keyof typeof EVENT_ALIASES;

export const ALL_EVENTS = '*';

/** A cursor after the last stored event. */
export const LATEST_CURSOR = 'latest';

/** Every name that a webhook may register. */
export const EVENT_NAMES = [
  ...EVENT_TYPES,
  ...Object.keys(EVENT_ALIASES).filter(isAlias),
  ALL_EVENTS,
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** The event of a test delivery. Webhooks cannot register for it. */
export const TEST_EVENT = 'webhook_test';

export function isEventName(name: string): name is EventName {
  return (EVENT_NAMES as readonly string[]).includes(name);
}

/** Returns the event of a name; undefined for `*` and unknown names. */
export function findEventType(name: string): EventType | undefined {
  return isAlias(name) ? EVENT_ALIASES[name] : EVENT_TYPES.find((type) => type === name);
}

function isAlias(name: string): name is EventAlias {
  return Object.hasOwn(EVENT_ALIASES, name);
}

/** Returns the name under which a webhook with these registered names gets the event; undefined when it does not get it. */
export function deliveredName(type: EventType, registered: readonly string[]): string | undefined {
  if (registered.includes(ALL_EVENTS) || registered.includes(type)) return type;
  return registered.find((name) => isAlias(name) && EVENT_ALIASES[name] === type);
}
