import { type RecordDeps, recordInTransaction } from '../events/append-events.ts';
import { recordOfRoom } from '../events/append-room-event.ts';
import type { EventRecording, Happening } from '../events/event-payload.ts';
import type { FoundEnd } from './apply-egress-state.ts';

/** What webhooks learn of a recording's start or end. */
export function recordingHappening(
  type: 'egress_started' | 'egress_ended',
  recording: EventRecording,
  { occurredAt, isReconciled }: Pick<Happening, 'occurredAt' | 'isReconciled'>,
): Happening {
  const sourceId = `${type}:${recording.egressId}`;
  return { type, sourceId, occurredAt, isReconciled, subject: { recording } };
}

/** The media server's clock, which says when a room was opened, need not be ours. */
const CLOCKS_APART_MS = 5_000;

/** An end that no event told of. If the media server's own event comes after all, it is the same one. */
export async function tellFoundEnd(
  deps: RecordDeps,
  { recording, status, error, file }: FoundEnd,
): Promise<void> {
  const { egressId, room } = recording;
  if (egressId === null) return;
  const beginning = recording.startedAt ?? recording.createdAt;
  const happening = recordingHappening(
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
  await recordInTransaction(deps, async (store, recorder) => {
    const found = await store.presence.findRoomAt(room, beginning + CLOCKS_APART_MS);
    const session = found && (await store.presence.lockRoom(found.sid));
    await recordOfRoom(store, recorder, { room: { name: room, session }, happening });
  });
}
