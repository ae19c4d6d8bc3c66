import { type AppendEventsDeps, appendEvents } from '../events/append-events.ts';
import { appendRoomEvent } from '../events/append-room-event.ts';
import type { DomainEvent, EventRecording } from '../events/event-payload.ts';
import type { FoundEnd } from './apply-egress-state.ts';

/** What webhooks learn of a recording's start or end. */
export function recordingEvent(
  type: 'egress_started' | 'egress_ended',
  recording: EventRecording,
  { occurredAt, isReconciled }: Pick<DomainEvent, 'occurredAt' | 'isReconciled'>,
): DomainEvent {
  const sourceId = `${type}:${recording.egressId}`;
  return { type, sourceId, occurredAt, isReconciled, subject: { recording } };
}

/** The media server's clock, which says when a room was opened, need not be ours. */
const CLOCKS_APART_MS = 5_000;

/** An end that no event told of. If the media server's own event comes after all, it is the same one. */
export async function tellFoundEnd(
  deps: AppendEventsDeps,
  { recording, status, error, file }: FoundEnd,
): Promise<void> {
  const { egressId, room } = recording;
  if (egressId === null) return;
  const beginning = recording.startedAt ?? recording.createdAt;
  const domainEvent = recordingEvent(
    'egress_ended',
    {
      egressId,
      status,
      error,
      recordingId: recording.id,
      durationMs: file?.durationMs,
      sizeBytes: file?.sizeBytes,
    },
    { occurredAt: deps.clock.now(), isReconciled: true },
  );
  await appendEvents(deps, async (store, appender) => {
    const found = await store.presence.findRoomAt(room, beginning + CLOCKS_APART_MS);
    const session = found && (await store.presence.lockRoom(found.sid));
    await appendRoomEvent(store, appender, { room: { name: room, session }, domainEvent });
  });
}
