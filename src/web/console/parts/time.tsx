import { useSyncExternalStore } from 'react';

/** One clock for all relative times of the page, which runs while there are any. */
const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: number | undefined;

function subscribe(onTick: () => void): () => void {
  listeners.add(onTick);
  // It stood still while there were none.
  if (timer === undefined) now = Date.now();
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const listener of listeners) listener();
  }, TICK_MS);
  return () => {
    listeners.delete(onTick);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

/*
 * Created once, because `toLocaleString` creates a formatter at each call, which took two thirds of the time of scrolling.
 */
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const YEAR = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

type TimeProps = { readonly at: string | number | null | undefined };

/** `3 min ago`, with the instant itself on hover and for programs; `—` without one. */
export function Ago({ at }: TimeProps) {
  const nowMs = useNow();
  if (at === null || at === undefined) return <span className="faint">—</span>;
  const instant = new Date(at);
  return (
    <time dateTime={instant.toISOString()} title={WHOLE.format(instant)}>
      {describeAgo(nowMs - instant.getTime())}
    </time>
  );
}

/** `14:03:27`, with its date if it is not today, and its year if it is not this one. */
export function Clock({ at }: TimeProps) {
  if (at === null || at === undefined) return <span className="faint">—</span>;
  const instant = new Date(at);
  const today = new Date();
  const isToday = instant.toDateString() === today.toDateString();
  const day = instant.getFullYear() === today.getFullYear() ? DAY : YEAR;
  const time = TIME.format(instant);
  return (
    <time dateTime={instant.toISOString()} title={WHOLE.format(instant)}>
      {isToday ? time : `${day.format(instant)}, ${time}`}
    </time>
  );
}

function describeAgo(ms: number): string {
  if (ms <= -5_000) return `in ${describeDuration(-ms)}`;
  return ms < 5_000 ? 'just now' : `${describeDuration(ms)} ago`;
}

/** `42 s`, `3 min`, `2 h 5 min`, `4 d`. */
export function describeDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 24) return `${Math.floor(hours / 24)} d`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}
