/**
 * Maximum time until an event of the media server arrives. It is sent within a second; retries after failed attempts end
 * after 15 s. After this time the service publishes an event of its own for what it sees.
 */
export const EVENT_ARRIVAL_MS = 20_000;

/**
 * Returns the instant of an event of which the media server reports the whole second: the arrival, kept within that second.
 * An event arrives after it happened, so that one which arrives in a later second is put at the end of its own; one which
 * arrives earlier, because our clock is behind, at the beginning. Events that arrive in order keep their order.
 */
export function placeInSecond(second: number, arrivedAt: number): number {
  return Math.min(Math.max(arrivedAt, second), second + 999);
}

/**
 * Returns whether the media server's event about something that happened at `since` would have arrived by now. A time further
 * ahead was stored before the clock was set back.
 */
export function hasEventTimePassed(since: number, now: number): boolean {
  return Math.abs(now - since) >= EVENT_ARRIVAL_MS;
}

/*
 * Somebody who joins and leaves, or publishes and unpublishes, in a loop would fill the list of events and every webhook.
 * Events tell of at most so many joins, and so many publications, of one identity in a room and minute, with the ends of what
 * they tell. The last one says until when the next are left out (`limitedUntil`). Those are stored as `untoldUntil` the end
 * of the minute; what still lasts then is told late, by a comparison with the media server (align-rooms.ts).
 */

export const MINUTE_MS = 60_000;

/** Nobody gets there by hand, and someone with a bad connection joins again every few seconds. */
export const MOST_STARTS = 30;

export function toMinute(instant: number): number {
  return Math.floor(instant / MINUTE_MS) * MINUTE_MS;
}
