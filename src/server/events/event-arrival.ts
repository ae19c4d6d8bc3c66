/**
 * Maximum time until an event of the media server arrives. It is sent within a second; retries after failed attempts end
 * after 15 s. After this time the service publishes an event of its own for what it sees.
 */
export const EVENT_ARRIVAL_MS = 20_000;

/**
 * Whether the media server's event about something that happened at `since` would have arrived by now. A time further ahead
 * was stored before the clock was set back.
 */
export function hasEventTimePassed(since: number, now: number): boolean {
  return Math.abs(now - since) >= EVENT_ARRIVAL_MS;
}
