/** Figures of a session that had participants. */
export type SessionFigures = {
  readonly firstJoinedAt: number;
  readonly totalParticipants: number;
  readonly peakParticipants: number;
  readonly participantMs: number;
};

/** One connection of an identity. */
export type Presence = {
  readonly identity: string;
  readonly joinedAt: number;
  readonly leftAt: number | null;
};

type Span = { readonly from: number; to: number };

/**
 * Computes the figures of one session from its connections, in the order in which they began. The connections of one
 * identity are merged when they overlap or touch, because LiveKit removes the older of two only after the newer one has
 * joined. Then each join adds one and each leave subtracts one, in the order of time, leaves first. `now` is the end of
 * connections that still last.
 */
export function computeFigures(connections: readonly Presence[], now: number): SessionFigures | undefined {
  const [first] = connections;
  if (first === undefined) return undefined;
  const spans: Span[] = [];
  const lastSpans = new Map<string, Span>();
  for (const { identity, joinedAt: from, leftAt } of connections) {
    // Participants who are present are included, even if the media server's clock is ahead of ours.
    const to = Math.max(from, leftAt ?? Number.POSITIVE_INFINITY);
    const last = lastSpans.get(identity);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else {
      const span = { from, to };
      lastSpans.set(identity, span);
      spans.push(span);
    }
  }
  return {
    firstJoinedAt: first.joinedAt,
    totalParticipants: lastSpans.size,
    peakParticipants: countPeak(spans),
    participantMs: spans.reduce(
      (sum, { from, to }) => sum + Math.max(0, (to === Number.POSITIVE_INFINITY ? now : to) - from),
      0,
    ),
  };
}

/**
 * The spans are ordered by their beginnings. A participant who left in the instant of joining was present for a moment
 * nevertheless.
 */
function countPeak(spans: readonly Span[]): number {
  const ends = spans.map(({ from, to }) => Math.max(to, from + 1)).sort((one, other) => one - other);
  let peak = 0;
  let gone = 0;
  for (const [index, { from }] of spans.entries()) {
    while ((ends[gone] ?? Number.POSITIVE_INFINITY) <= from) gone += 1;
    peak = Math.max(peak, index + 1 - gone);
  }
  return peak;
}
