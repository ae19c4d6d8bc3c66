import { ServiceError } from '../../contract/errors.ts';
import type { RecordingStop } from '../../contract/recordings.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import { findRoom } from '../rooms/rooms.ts';
import { applyStop, type EgressStateDeps, hasSilentRecorder, mayBeStarting } from './egress-state.ts';
import type { Recording } from './store.ts';

/**
 * Stops the recording of a room. Throws no-active-recording, also when the recording has ended by itself in the meantime,
 * and room-not-found.
 */
export async function stopRecording(deps: EgressStateDeps, room: string): Promise<RecordingStop> {
  const recording = await deps.store.recordings.findActive(room);
  if (recording === undefined || recording.egressId === null) throw await noActiveRecording(deps, room);
  const egress = await stopUnlessOver(deps, recording, recording.egressId);
  if (egress === undefined) throw await noActiveRecording(deps, room);
  const applied = await applyStop(deps, recording, egress);
  // An end that the media server or another instance recorded first keeps its time, which is the same for all callers.
  const stoppedAt = applied.recording?.stoppedAt ?? deps.clock.now();
  return {
    egressId: recording.egressId,
    roomId: room,
    status: 'stopped',
    stoppedAt: new Date(stoppedAt).toISOString(),
  };
}

/**
 * Stops the egress. Returns undefined when there is nothing to stop: the egress has ended already, or its recorder is lost,
 * and the row was ended.
 */
async function stopUnlessOver(
  deps: EgressStateDeps,
  recording: Recording,
  egressId: string,
): Promise<Egress | undefined> {
  try {
    return await deps.mediaServer.stopEgress(egressId);
  } catch (error) {
    const [egress] = await deps.mediaServer.listEgress({ egressId });
    // The recorder receives the stop when it has started. If it does not, the reconciler stops it again (endUnfinished).
    if (egress !== undefined && mayBeStarting(deps, recording, egress)) return egress;
    if (await hasSilentRecorder(deps, recording, egressId)) throw error;
    return undefined;
  }
}

async function noActiveRecording(deps: EgressStateDeps, room: string): Promise<ServiceError> {
  await findRoom(deps, room);
  return new ServiceError('no-active-recording', `The room ${JSON.stringify(room)} is not being recorded.`);
}
