import type { SessionDetail, SessionParticipant } from '../../../contract/sessions.ts';

/** A stretch of time within a session, as shares of it: 0 is its opening, 1 its end. */
export type Span = {
  readonly from: number;
  readonly to: number;
  /** Whether the span continues. */
  readonly isOpen: boolean;
};

/** A participant, or a recorder, with the times of presence. */
export type Lane = {
  readonly id: string;
  readonly name: string;
  readonly role: string | null;
  readonly joinedAt: string;
  /** Null while the participant is present. */
  readonly leftAt: string | null;
  readonly durationMs: number;
  readonly spans: readonly Span[];
};

/** Returns one lane for each identity, however often it joined, in the order of the first joins. */
export function drawLanes(session: SessionDetail, nowMs: number): readonly Lane[] {
  const connections = Map.groupBy(session.participants, ({ identity }) => identity);
  return [...connections].map(([identity, joins]) => drawLane(identity, joins, spanIn(session, nowMs)));
}

type SpanOf = (startedAt: string, endedAt: string | null) => Span;

function drawLane(identity: string, joins: readonly SessionParticipant[], spanOf: SpanOf): Lane {
  const last = joins.at(-1);
  const isThere = joins.some(({ leftAt }) => leftAt === null);
  const left = joins.flatMap(({ leftAt }) => (leftAt === null ? [] : [leftAt]));
  return {
    id: identity,
    name: last?.name || identity,
    role: last?.role ?? null,
    joinedAt: joins[0]?.joinedAt ?? '',
    leftAt: isThere ? null : (left.toSorted().at(-1) ?? null),
    durationMs: joins.reduce((sum, { durationMs }) => sum + durationMs, 0),
    spans: joins.map(({ joinedAt, leftAt }) => spanOf(joinedAt, leftAt)),
  };
}

/** Returns the position of instants in a session; a session that has not ended extends to now. */
export function spanIn({ createdAt, endedAt }: SessionDetail, nowMs: number): SpanOf {
  const startMs = Date.parse(createdAt);
  const endMs = endedAt === null ? nowMs : Date.parse(endedAt);
  const lengthMs = Math.max(1, endMs - startMs);
  const share = (at: string | null): number =>
    at === null ? 1 : Math.min(1, Math.max(0, (Date.parse(at) - startMs) / lengthMs));
  return (from, to) => ({ from: share(from), to: share(to), isOpen: to === null });
}
