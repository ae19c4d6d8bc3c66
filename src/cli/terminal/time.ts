import { plural } from '../../contract/amounts.ts';
import { usageError } from '../errors/cli-error.ts';

const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
};

/** Parses seconds of `90`, `90s`, `10m`, `1h30m`, `500ms`, `2d`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    seconds += Number(amount) * (UNIT_SECONDS[unit ?? ''] ?? 0);
  }
  return Math.round(seconds * 1000) / 1000;
}

/** Formats `3 minutes ago`, `in 2 hours`, `just now`. */
export function formatRelative(atMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - atMs) / 1000);
  const size = Math.abs(seconds);
  if (size < 5) return 'just now';
  const { count, unit } = roundToUnit(size);
  const amount = plural(count, unit);
  return seconds > 0 ? `${amount} ago` : `in ${amount}`;
}

/** Formats `3 min`, `2 h`, `in 4 d`, `now`: formatRelative for narrow terminals. */
export function formatShortAge(atMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - atMs) / 1000);
  const size = Math.abs(seconds);
  if (size < 5) return 'now';
  const { count, unit } = roundToUnit(size);
  const short = `${count} ${SHORT_UNITS[unit]}`;
  return seconds > 0 ? short : `in ${short}`;
}

const SHORT_UNITS = { second: 's', minute: 'min', hour: 'h', day: 'd' } as const;

/** Rounds whole seconds to the largest unit that does not become 0. What would be 60 minutes is an hour, and 24 hours a day. */
function roundToUnit(seconds: number): { readonly count: number; readonly unit: keyof typeof SHORT_UNITS } {
  const minutes = Math.round(seconds / MINUTE);
  const hours = Math.round(seconds / HOUR);
  if (seconds < MINUTE) return { count: seconds, unit: 'second' };
  if (minutes < 60) return { count: minutes, unit: 'minute' };
  if (hours < 24) return { count: hours, unit: 'hour' };
  return { count: Math.round(seconds / DAY), unit: 'day' };
}

/** Formats RFC 3339 in UTC with milliseconds, like the API. */
export function formatInstant(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Returns whether `2026-01-31` is a day of the calendar; for Date 30 February is 2 March. */
export function isCalendarDay(text: string): boolean {
  const date = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  return date !== undefined && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Formats the time of day in the user's own zone, for lines that are read as they appear: `09:30:04`. */
export function clockTime(atMs: number): string {
  const at = new Date(atMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** Formats the time of day, with the date if it is not today: `2026-01-30 09:30:04`. */
export function pastTime(atMs: number, nowMs: number): string {
  const [day, today] = [localDay(atMs), localDay(nowMs)];
  return day === today ? clockTime(atMs) : `${day} ${clockTime(atMs)}`;
}

function localDay(atMs: number): string {
  const at = new Date(atMs);
  const [month, day] = [at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${at.getFullYear()}-${month}-${day}`;
}

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
