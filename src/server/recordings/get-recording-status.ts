import type { RecordingStatus } from '../../contract/recordings.ts';
import { findRoom } from '../rooms/rooms.ts';
import { isStillRecording, type SettleDeps } from './apply-egress-state.ts';

/** Throws room-not-found for a room that is neither open nor being recorded. */
export async function getRecordingStatus(deps: SettleDeps, room: string): Promise<RecordingStatus> {
  const recording = await deps.store.recordings.findActive(room);
  if (recording?.startedAt != null && (await isStillRecording(deps, recording))) {
    const startedAt = new Date(recording.startedAt).toISOString();
    return { isRecording: true, egressId: recording.egressId, startedAt };
  }
  await findRoom(deps, room);
  return { isRecording: false, egressId: null, startedAt: null };
}
