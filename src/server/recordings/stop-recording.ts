import { ServiceError } from '../../contract/errors.ts';
import type { RecordingStop } from '../../contract/recordings.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import { findRoom } from '../rooms/rooms.ts';
import { applyStop, type EgressStateDeps, hasSilentRecorder, mayBeStarting } from './egress-state.ts';
import type { Recording } from './store.ts';

/** Throws no-active-recording, also when the recording ended by itself meanwhile, and room-not-found. */
export async function stopRecording(deps: EgressStateDeps, room: string): Promise<RecordingStop> {
  const recording = await deps.store.recordings.findActive(room);
  if (recording === undefined || recording.egressId === null) throw await noActiveRecording(deps, room);
  const egress = await stopUnlessOver(deps, recording, recording.egressId);
  if (egress === undefined) throw await noActiveRecording(deps, room);
  const applied = await applyStop(deps, recording, egress);
  // An end that the media server or another instance recorded first keeps its time, the same for all who ask.
  const stoppedAt = applied.recording?.stoppedAt ?? deps.clock.now();
  return {
    egressId: recording.egressId,
    roomId: room,
    status: 'stopped',
    stoppedAt: new Date(stoppedAt).toISOString(),
  };
}

/** Undefined when there is nothing to stop: the egress was over already, or its recorder is lost, and the row says so. */
async function stopUnlessOver(
  deps: EgressStateDeps,
  recording: Recording,
  egressId: string,
): Promise<Egress | undefined> {
  try {
    return await deps.mediaServer.stopEgress(egressId);
  } catch (error) {
    const [egress] = await deps.mediaServer.listEgress({ egressId });
    // The recorder receives the stop when it is up; if it does not, the reconciler stops it again (endUnfinished).
    if (egress !== undefined && mayBeStarting(deps, recording, egress)) return egress;
    if (await hasSilentRecorder(deps, recording, egressId)) throw error;
    return undefined;
  }
}

async function noActiveRecording(deps: EgressStateDeps, room: string): Promise<ServiceError> {
  await findRoom(deps, room);
  return new ServiceError('no-active-recording', `The room ${JSON.stringify(room)} is not being recorded.`);
}
