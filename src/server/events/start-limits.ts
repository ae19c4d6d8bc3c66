/*
 * Somebody who joins and leaves, or publishes and unpublishes, in a loop would fill the list of events and every webhook.
 * Events report at most so many joins, and so many publications, of one identity in a room and minute, with the ends of what
 * they report. The last one says until when the next are left out. Presence is stored in any case; what still lasts
 * after the minute is reported then, by a comparison with the media server.
 */

export const MINUTE_MS = 60_000;

/** Nobody gets there by hand, and someone with a bad connection joins again every few seconds. */
export const MOST_STARTS = 30;

export function toMinute(instant: number): number {
  return Math.floor(instant / MINUTE_MS) * MINUTE_MS;
}
