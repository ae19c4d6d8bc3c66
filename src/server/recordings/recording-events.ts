import { type AppendEventsDeps, appendEvents } from '../events/append-events.ts';
import { appendRoomEvent } from '../events/append-room-event.ts';
import type { DomainEvent, EventRecording } from '../events/event-payload.ts';
import type { RecordingEnd } from './apply-observation.ts';
import type { Recording } from './store.ts';

type RecordingEventType = 'egress_started' | 'egress_ended';

/** The event that webhooks get when a recording starts or ends. A corrected end is an event of its own. */
export function recordingEvent(
  type: RecordingEventType,
  recording: EventRecording,
  { occurredAt, isReconciled }: Pick<DomainEvent, 'occurredAt' | 'isReconciled'>,
): DomainEvent {
  const end = sourceIdOf(type, recording.egressId);
  const sourceId = recording.corrected === true ? `${end}:corrected` : end;
  return { type, sourceId, occurredAt, isReconciled, subject: { recording } };
}

/** The identity of a recording's end among all events: the media server's event and ours are stored once. */
export function endSourceId({ egressId }: Pick<Recording, 'egressId'>): string {
  return sourceIdOf('egress_ended', egressId ?? '');
}

function sourceIdOf(type: RecordingEventType, egressId: string): string {
  return `${type}:${egressId}`;
}

/** Instants of events are ISO 8601. */
export function toInstant(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}

/** The media server says when a room was opened, and its clock may differ from ours. */
const CLOCK_SKEW_MS = 5_000;

/** Publishes an end that no event has reported. */
export async function publishRecordingEnd(
  deps: AppendEventsDeps,
  { recording, status, error, file, isCorrection }: RecordingEnd,
): Promise<void> {
  const { egressId, room } = recording;
  if (egressId === null) return;
  const startedAt = recording.startedAt ?? recording.createdAt;
  const domainEvent = recordingEvent(
    'egress_ended',
    {
      egressId,
      status,
      error,
      recordingId: recording.id,
      mediaStartedAt: toInstant(recording.mediaStartedAt),
      durationMs: file?.durationMs,
      sizeBytes: file?.sizeBytes,
      ...(isCorrection === true ? { corrected: true } : {}),
    },
    { occurredAt: deps.clock.now(), isReconciled: true },
  );
  await appendEvents(deps, async (store, appender) => {
    const found = await store.presence.findRoomAt(room, startedAt + CLOCK_SKEW_MS);
    const session = found && (await store.presence.lockRoom(found.sid));
    await appendRoomEvent(store, appender, { room: { name: room, session }, domainEvent });
  });
}
