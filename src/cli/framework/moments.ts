import { usageError } from '../errors/cli-error.ts';
import { isCalendarDay, parseDuration } from '../terminal/time.ts';

/** A moment, given as a duration from now or as an instant; ISO 8601 once the time is known. */
export type Moment = (nowMs: number) => string;

const INSTANT = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** Parses `90s`, `1h30m`, `7d` as ages, `2026-01-31` (UTC) or `2026-01-31T09:30:00Z`. */
export function pastMoment(text: string): Moment {
  return parseMoment(text, { sign: -1, example: 'an age such as 10m or 7d' });
}

/** Parses `90s`, `1h30m`, `7d` from now, `2026-01-31` (UTC) or `2026-01-31T09:30:00Z`. */
export function futureMoment(text: string): Moment {
  return parseMoment(text, { sign: 1, example: 'a duration such as 10m or 7d' });
}

type Direction = { readonly sign: 1 | -1; readonly example: string };

function parseMoment(text: string, { sign, example }: Direction): Moment {
  const seconds = parseDuration(text);
  if (seconds !== undefined) {
    return (nowMs) => new Date(Math.max(0, nowMs + sign * seconds * 1000)).toISOString();
  }
  const atMs = INSTANT.test(text) && isCalendarDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw usageError(
      `${JSON.stringify(text)} is neither a duration nor an instant`,
      `write ${example}, or a time such as 2026-01-31T09:30:00Z`,
    );
  }
  return () => new Date(atMs).toISOString();
}
