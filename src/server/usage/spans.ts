/*
 * Time that people spend in a room. The connections of one identity are merged when they overlap or touch, because LiveKit
 * removes the older of two only after the newer one has joined.
 */

export const DAY_MS = 86_400_000;

/** One connection of an identity. */
export type Presence = {
  readonly identity: string;
  readonly joinedAt: number;
  /** Null while it lasts. */
  readonly leftAt: number | null;
};

/** Time in which an identity was there, from its first connection on. `to` is infinite for somebody who is there now. */
export type Span<P extends Presence = Presence> = { readonly first: P; readonly from: number; to: number };

/** Merges the connections. The connections of one identity must be added in the order in which they began. */
export class Stays<P extends Presence> {
  readonly #spans: Span<P>[] = [];
  readonly #lastSpans = new Map<string, Span<P>>();

  get spans(): readonly Span<P>[] {
    return this.#spans;
  }

  /** The number of identities. */
  get identities(): number {
    return this.#lastSpans.size;
  }

  add(connection: P): this {
    const { identity, joinedAt: from, leftAt } = connection;
    // Somebody who is present has no end yet. With the clock of the media server ahead of ours, an end may be before the start.
    const to = Math.max(from, leftAt ?? Number.POSITIVE_INFINITY);
    const last = this.#lastSpans.get(identity);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else {
      const span = { first: connection, from, to };
      this.#lastSpans.set(identity, span);
      this.#spans.push(span);
    }
    return this;
  }
}

/**
 * Returns the maximum number of spans at the same time. Each join adds one and each leave subtracts one, in the order of time,
 * leaves first. A participant who left in the instant of joining was present for a moment nevertheless.
 */
export function countPeak(spans: readonly Pick<Span, 'from' | 'to'>[]): number {
  const starts = Float64Array.from(spans, ({ from }) => from).sort();
  const ends = Float64Array.from(spans, ({ from, to }) => Math.max(to, from + 1)).sort();
  let peak = 0;
  let gone = 0;
  for (const [index, from] of starts.entries()) {
    while ((ends[gone] ?? Number.POSITIVE_INFINITY) <= from) gone += 1;
    peak = Math.max(peak, index + 1 - gone);
  }
  return peak;
}

/** A part of a span that lies in one day. */
export type DayPart = { readonly day: number; readonly from: number; readonly to: number };

export function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

/** Splits at midnight in UTC. What has no length is one part. */
export function splitByDay(from: number, to: number): readonly DayPart[] {
  const parts: DayPart[] = [];
  for (let day = startOfDay(from); day < to || day === startOfDay(from); day += DAY_MS) {
    parts.push({ day, from: Math.max(from, day), to: Math.max(from, Math.min(to, day + DAY_MS)) });
  }
  return parts;
}
