import { usageError } from '../errors/cli-error.ts';
import { isCalendarDay, parseDuration } from '../terminal/time.ts';

/** A moment, given as a duration ago or as an instant; ISO 8601 once the time is known. */
export type PastMoment = (nowMs: number) => string;

const INSTANT = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** Parses `90s`, `1h30m`, `7d`, `2026-01-31` (UTC) or `2026-01-31T09:30:00Z`. */
export function pastMoment(text: string): PastMoment {
  const agoSeconds = parseDuration(text);
  if (agoSeconds !== undefined) {
    return (nowMs) => new Date(Math.max(0, nowMs - agoSeconds * 1000)).toISOString();
  }
  const atMs = INSTANT.test(text) && isCalendarDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw usageError(
      `${JSON.stringify(text)} is neither a duration nor an instant`,
      'write an age such as 10m or 7d, or a time such as 2026-01-31T09:30:00Z',
    );
  }
  return () => new Date(atMs).toISOString();
}
