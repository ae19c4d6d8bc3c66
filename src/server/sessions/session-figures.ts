/** Figures of a session in which somebody was. */
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
 * Figures of one session, from its connections in the order in which they began. The connections of one identity are
 * merged where they overlap or touch, as LiveKit removes the older of two only after the newer has joined. Then whoever
 * comes adds one and whoever goes takes one away, in the order of time, going first. `now` is the end of who is there.
 */
export function figuresOf(connections: readonly Presence[], now: number): SessionFigures | undefined {
  const [first] = connections;
  if (first === undefined) return undefined;
  const spans: Span[] = [];
  const lastOf = new Map<string, Span>();
  for (const { identity, joinedAt: from, leftAt } of connections) {
    // Participants who are present stay listed, though the media server's clock may be ahead of ours.
    const to = Math.max(from, leftAt ?? Number.POSITIVE_INFINITY);
    const last = lastOf.get(identity);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else {
      const span = { from, to };
      lastOf.set(identity, span);
      spans.push(span);
    }
  }
  return {
    firstJoinedAt: first.joinedAt,
    totalParticipants: lastOf.size,
    peakParticipants: peakOf(spans),
    participantMs: spans.reduce(
      (sum, { from, to }) => sum + Math.max(0, (to === Number.POSITIVE_INFINITY ? now : to) - from),
      0,
    ),
  };
}

/** The spans are in the order of their beginnings. Who left in the instant of joining was there for a moment all the same. */
function peakOf(spans: readonly Span[]): number {
  const ends = spans.map(({ from, to }) => Math.max(to, from + 1)).sort((one, other) => one - other);
  let peak = 0;
  let gone = 0;
  for (const [index, { from }] of spans.entries()) {
    while ((ends[gone] ?? Number.POSITIVE_INFINITY) <= from) gone += 1;
    peak = Math.max(peak, index + 1 - gone);
  }
  return peak;
}
