import type { EventBroadcast } from '../../contract/broadcasts.ts';
import { ROLES } from '../../contract/choices.ts';
import { ROOT_KEY_ID } from '../../contract/keys.ts';
import { isProbeRoom } from '../../contract/names.ts';
import { countPeak, type DayPart, type Presence, Stays, splitByDay, startOfDay } from './spans.ts';
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
 * of streams, and of the room from its first connection, which may be a stream, to its end. The room counts for the key of its
 * first person, or of its first stream if nobody came.
 */
export function computeSessionUsage(
  { sid, name, endedAt }: UsedSession,
  connections: readonly UsedConnection[],
  { now, continued }: UsageTime,
): readonly UsageRow[] {
  const people = connections.filter(({ accessRole }) => accessRole !== STREAM_ROLE);
  const streams = connections.filter(({ accessRole }) => accessRole === STREAM_ROLE);
  const sums = new Map<string, UsageRow>();
  const roomKey = continued?.keyId ?? toKeyId(people[0] ?? streams[0]);
  const range = { now, since: continued?.since ?? 0 };
  const add = (part: DayPart, change: Partial<UsageRow> & Pick<UsageRow, 'kind'>): void => {
    const { kind, role = '', keyId = roomKey, peak = 0 } = change;
    const id = JSON.stringify([kind, part.day, role, keyId]);
    const known = sums.get(id);
    const ms = (known?.ms ?? 0) + part.to - part.from;
    const source = { sourceId: sid, roomSid: sid, room: name, bytes: 0 };
    const isFinal = endedAt === null ? 0 : 1;
    sums.set(id, { ...source, kind, day: part.day, role, keyId, peak, ms, isFinal });
  };
  const parts = splitSpans(people, range);
  for (const { part, first } of parts)
    add(part, { kind: 'participant', role: toRole(first), keyId: toKeyId(first) });
  for (const { part, first } of splitSpans(streams, range))
    add(part, { kind: 'ingress', keyId: toKeyId(first) });
  const peaks = countPeaks(parts.map(({ part }) => part));
  const startedAt = continued?.since ?? connections[0]?.joinedAt;
  for (const part of startedAt === undefined ? [] : splitByDay(startedAt, endedAt ?? now)) {
    add(part, { kind: 'room', peak: peaks.get(part.day) ?? 0 });
  }
  return [...sums.values()];
}

type UsageTime = {
  /** End of what still lasts. */
  readonly now: number;
  /** Set for a session that was counted before: its days from `since` on are computed, and its room keeps this key. */
  readonly continued: { readonly since: number; readonly keyId: string } | undefined;
};

function splitSpans(
  connections: readonly UsedConnection[],
  { now, since }: { readonly now: number; readonly since: number },
) {
  const stays = connections.reduce((all, each) => all.add(each), new Stays<UsedConnection>());
  return stays.spans.flatMap(({ first, from: joinedAt, to }) => {
    const from = Math.max(joinedAt, since);
    const end = Math.max(from, to === Number.POSITIVE_INFINITY ? now : to);
    return splitByDay(from, end).map((part) => ({ part, first }));
  });
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

/** An event that may report the end of something that counts. */
type EndedEvent = {
  readonly type: string;
  readonly occurredAt: number;
  readonly usedUntil?: number | undefined;
  readonly subject: {
    readonly recording?: EndedRecording;
    readonly broadcast?: EndedBroadcast;
    readonly transcription?: Readonly<Record<string, unknown>>;
  };
};

type EndedRecording = {
  readonly egressId: string;
  readonly mediaStartedAt: string | null;
  readonly durationMs?: number | undefined;
  readonly sizeBytes?: number | undefined;
};

type EndedBroadcast = Pick<EventBroadcast, 'broadcastId' | 'startedAt' | 'status'>;

type Place = { readonly room: string | null; readonly roomSid: string | null };

/** The events that may report usage. */
export const USAGE_EVENTS: ReadonlySet<string> = new Set([
  'egress_ended',
  'broadcast_ended',
  'transcription_completed',
  'transcription_failed',
]);

/** Returns the usage that an event reports. A corrected end has the same source, and replaces what the first one reported. */
export function readEventUsage(event: EndedEvent, place: Place): readonly UsageRow[] {
  const { recording, broadcast, transcription } = event.subject;
  if (place.room === null || isProbeRoom(place.room)) return [];
  if (event.type === 'egress_ended' && recording !== undefined)
    return recordingUsage(recording, event.occurredAt, place);
  if (event.type === 'broadcast_ended' && broadcast !== undefined)
    return broadcastUsage(broadcast, event.usedUntil ?? event.occurredAt, place);
  if (event.type === 'transcription_completed' || event.type === 'transcription_failed')
    return transcription === undefined ? [] : transcriptionUsage(transcription, place);
  return [];
}

function recordingUsage(
  { egressId, mediaStartedAt, durationMs = 0, sizeBytes = 0 }: EndedRecording,
  endedAt: number,
  place: Place,
): readonly UsageRow[] {
  if (durationMs === 0 && sizeBytes === 0) return [];
  const startedAt = mediaStartedAt === null ? endedAt - durationMs : Date.parse(mediaStartedAt);
  const parts = splitByDay(startedAt, startedAt + durationMs);
  return parts.map(({ day, from, to }, index) => ({
    ...toRow(place, { kind: 'recording', sourceId: egressId }),
    day,
    ms: to - from,
    bytes: index === parts.length - 1 ? sizeBytes : 0,
  }));
}

/** A broadcast counts from its start to its stop, whatever the number of its receivers; not if no media ever came. */
function broadcastUsage(
  { broadcastId, startedAt, status }: EndedBroadcast,
  stoppedAt: number,
  place: Place,
): readonly UsageRow[] {
  if (startedAt === null || status === 'aborted') return [];
  return splitByDay(Date.parse(startedAt), stoppedAt).map(({ day, from, to }) => ({
    ...toRow(place, { kind: 'broadcast', sourceId: broadcastId }),
    day,
    ms: to - from,
  }));
}

/** A recording that is transcribed counts with its length, on the day on which the transcript was completed. */
function transcriptionUsage(facts: Readonly<Record<string, unknown>>, place: Place): readonly UsageRow[] {
  const row = toRow(place, { kind: 'transcription', sourceId: String(facts.transcriptionId) });
  if (facts.kind === 'live') {
    const [from, to] = [readInstant(facts.startedAt), readInstant(facts.stoppedAt)];
    if (from === undefined || to === undefined) return [];
    return splitByDay(from, to).map((part) => ({ ...row, day: part.day, ms: part.to - part.from }));
  }
  const completedAt = readInstant(facts.completedAt);
  const { status, durationMs } = facts;
  if (status !== 'completed' || completedAt === undefined || typeof durationMs !== 'number') return [];
  return [{ ...row, day: startOfDay(completedAt), ms: durationMs }];
}

function readInstant(value: unknown): number | undefined {
  return typeof value === 'string' ? Date.parse(value) : undefined;
}

function toRow(
  { room, roomSid }: Place,
  source: Pick<UsageRow, 'kind' | 'sourceId'>,
): Omit<UsageRow, 'day' | 'ms'> {
  const nothing = { role: '', keyId: '', peak: 0, bytes: 0, isFinal: 1 } as const;
  return { ...nothing, ...source, room: room ?? '', roomSid: roomSid ?? '' };
}
