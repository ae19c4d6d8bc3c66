import { ROLES } from '../../contract/choices.ts';
import { ROOT_KEY_ID } from '../../contract/keys.ts';
import { countPeak, type DayPart, type Presence, Stays, splitByDay } from './spans.ts';
import type { UsageRow } from './store.ts';

/** The role of a stream into a room. */
export const STREAM_ROLE = 'ingress';

export type UsedConnection = Presence & {
  readonly accessRole: string | null;
  readonly keyId: string | null;
};

export type UsedSession = {
  readonly sid: string;
  readonly name: string;
  readonly endedAt: number | null;
};

/**
 * Computes the usage of a session from its connections, in the order in which they began: the time of people by role and key,
 * of streams, and of the room from its first person to its end. `now` is the end of what still lasts.
 */
export function computeSessionUsage(
  { sid, name, endedAt }: UsedSession,
  connections: readonly UsedConnection[],
  now: number,
): readonly UsageRow[] {
  const people = connections.filter(({ accessRole }) => accessRole !== STREAM_ROLE);
  const streams = connections.filter(({ accessRole }) => accessRole === STREAM_ROLE);
  const sums = new Map<string, UsageRow>();
  const roomKey = toKeyId(people[0] ?? streams[0]);
  const add = (part: DayPart, change: Partial<UsageRow> & Pick<UsageRow, 'kind'>): void => {
    const { kind, role = '', keyId = roomKey, peak = 0 } = change;
    const id = JSON.stringify([kind, part.day, role, keyId]);
    const known = sums.get(id);
    const ms = (known?.ms ?? 0) + part.to - part.from;
    const source = { sourceId: sid, roomSid: sid, room: name, bytes: 0 };
    const isFinal = endedAt === null ? 0 : 1;
    sums.set(id, { ...source, kind, day: part.day, role, keyId, peak, ms, isFinal });
  };
  const parts = splitSpans(people, now);
  for (const { part, first } of parts)
    add(part, { kind: 'participant', role: toRole(first), keyId: toKeyId(first) });
  for (const { part, first } of splitSpans(streams, now))
    add(part, { kind: 'ingress', keyId: toKeyId(first) });
  const peaks = countPeaks(parts.map(({ part }) => part));
  const startedAt = connections[0]?.joinedAt;
  for (const part of startedAt === undefined ? [] : splitByDay(startedAt, endedAt ?? now)) {
    add(part, { kind: 'room', peak: peaks.get(part.day) ?? 0 });
  }
  return [...sums.values()];
}

function splitSpans(connections: readonly UsedConnection[], now: number) {
  const stays = connections.reduce((all, each) => all.add(each), new Stays<UsedConnection>());
  return stays.spans.flatMap(({ first, from, to }) =>
    splitByDay(from, Math.max(from, to === Number.POSITIVE_INFINITY ? now : to)).map((part) => ({
      part,
      first,
    })),
  );
}

function countPeaks(parts: readonly DayPart[]): Map<number, number> {
  const days = Map.groupBy(parts, ({ day }) => day);
  return new Map([...days].map(([day, ofDay]) => [day, countPeak(ofDay)]));
}

function toRole({ accessRole }: UsedConnection): string {
  return ROLES.find((role) => role === accessRole) ?? 'other';
}

function toKeyId(connection: UsedConnection | undefined): string {
  return connection?.keyId ?? ROOT_KEY_ID;
}
