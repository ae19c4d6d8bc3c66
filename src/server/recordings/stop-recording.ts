import { ServiceError } from '../../contract/errors.ts';
import type { RecordingStop } from '../../contract/recordings.ts';
import type { Egress } from '../platform/livekit/media-server.ts';
import { findRoom } from '../rooms/rooms.ts';
import {
  isOver,
  isStillRecording,
  mayBeStarting,
  type SettleDeps,
  settleEgress,
} from './apply-egress-state.ts';
import type { Recording } from './store.ts';

/** Throws no-active-recording, also when the recording ended by itself meanwhile, and room-not-found. */
export async function stopRecording(deps: SettleDeps, room: string): Promise<RecordingStop> {
  const recording = await deps.store.recordings.findActive(room);
  if (recording === undefined || recording.egressId === null) throw await nothingToStop(deps, room);
  const egress = await stopOrSettle(deps, recording, recording.egressId);
  if (egress === undefined) throw await nothingToStop(deps, room);
  const now = deps.clock.now();
  if (isOver(egress)) await settleEgress(deps, recording, egress);
  else await deps.store.recordings.end(recording.id, { status: 'stopped', stoppedAt: now });
  // An end by the media server's own word, or another instance's, keeps its time: there is one for all who ask.
  const stoppedAt = (await deps.store.recordings.find(recording.id))?.stoppedAt ?? now;
  return {
    egressId: recording.egressId,
    roomId: room,
    status: 'stopped',
    stoppedAt: new Date(stoppedAt).toISOString(),
  };
}

/** Undefined when it was over already, or its recorder is lost: then the row is settled and there is nothing to stop. */
async function stopOrSettle(
  deps: SettleDeps,
  recording: Recording,
  egressId: string,
): Promise<Egress | undefined> {
  try {
    return await deps.mediaServer.stopEgress(egressId);
  } catch (error) {
    const [egress] = await deps.mediaServer.listEgress({ egressId });
    // It hears of the stop when it is up; if it does not, the reconciler stops it (settle-unfinished.ts).
    if (egress !== undefined && mayBeStarting(deps, recording, egress)) return egress;
    // A stop that nobody answers is what a dead recorder looks like: no more time to join is given.
    if (await isStillRecording(deps, recording, 0)) throw error;
    return undefined;
  }
}

async function nothingToStop(deps: SettleDeps, room: string): Promise<ServiceError> {
  await findRoom(deps, room);
  return new ServiceError('no-active-recording', `The room ${JSON.stringify(room)} is not being recorded.`);
}
