import { isProbeRoom } from '../../contract/names.ts';
import { splitByDay, startOfDay } from './spans.ts';
import type { UsageRow } from './store.ts';

/** An event that may report the end of something that counts. */
type EndedEvent = {
  readonly type: string;
  readonly occurredAt: number;
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

type EndedBroadcast = {
  readonly broadcastId: string;
  readonly startedAt: string | null;
  readonly status: string;
};

type Place = { readonly room: string | null; readonly roomSid: string | null };

/** Returns the usage that an event reports. A corrected end has the same source, and replaces what the first one reported. */
export function readEventUsage(event: EndedEvent, place: Place): readonly UsageRow[] {
  const { recording, broadcast, transcription } = event.subject;
  if (place.room === null || isProbeRoom(place.room)) return [];
  if (event.type === 'egress_ended' && recording !== undefined)
    return recordingUsage(recording, event.occurredAt, place);
  if (event.type === 'broadcast_ended' && broadcast !== undefined)
    return broadcastUsage(broadcast, event.occurredAt, place);
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
    ...{ day, ms: to - from, bytes: index === parts.length - 1 ? sizeBytes : 0 },
  }));
}

/** A broadcast counts from its start to its end, whatever the number of its receivers; not if no media ever came. */
function broadcastUsage(
  { broadcastId, startedAt, status }: EndedBroadcast,
  endedAt: number,
  place: Place,
): readonly UsageRow[] {
  if (startedAt === null || status === 'aborted') return [];
  return splitByDay(Date.parse(startedAt), endedAt).map(({ day, from, to }) => ({
    ...toRow(place, { kind: 'broadcast', sourceId: broadcastId }),
    ...{ day, ms: to - from },
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
