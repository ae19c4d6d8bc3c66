import { ServiceError } from '../../contract/errors.ts';
import type { Egress, MediaServer } from '../ports/media-server.ts';
import type { Recording, RecordingEnd } from '../ports/store.ts';
import type { RecordingDeps } from './recording-deps.ts';

/*
 * What the media server knows of a recording, brought into its row. A dead recorder leaves its egress ACTIVE for
 * ever; what gives it away is that the recorder, a participant whose identity is the egress id, is gone from the
 * room. A recorder that is still on its way in is given time.
 */
export const RECORDER_JOIN_MS = 60_000;

const END_OF_STATUS: Readonly<Partial<Record<Egress['status'], RecordingEnd['status']>>> = {
  EGRESS_COMPLETE: 'stopped',
  EGRESS_LIMIT_REACHED: 'stopped',
  EGRESS_ABORTED: 'aborted',
  EGRESS_FAILED: 'failed',
};

export type SettleDeps = Pick<RecordingDeps, 'store' | 'clock' | 'mediaServer'>;

/**
 * Whether the recording of an active row still runs; ends the row when it does not. A recorder that is not in the
 * room counts as lost once the recording is older than `joinMs`.
 */
export async function isStillRecording(
  deps: SettleDeps,
  recording: Recording,
  joinMs = RECORDER_JOIN_MS,
): Promise<boolean> {
  if (recording.egressId === null) return false;
  const [egress] = await deps.mediaServer.listEgress({ egressId: recording.egressId });
  if (egress === undefined) {
    await endRecording(deps, recording, 'failed', 'the media server no longer knows this recording');
    return false;
  }
  if (isOver(egress)) {
    await settleEgress(deps, recording, egress);
    return false;
  }
  if (egress.status === 'EGRESS_ENDING') {
    await endRecording(deps, recording, 'stopped');
    return false;
  }
  if (await isRecorderLost(deps, recording, joinMs)) {
    await endRecording(deps, recording, 'failed', 'the recorder was lost');
    return false;
  }
  return true;
}

export function isOver(egress: Egress): boolean {
  return END_OF_STATUS[egress.status] !== undefined;
}

/** Ends the row if it is active, and keeps what is known of an egress that is over: file, duration, error. */
export async function settleEgress(deps: SettleDeps, recording: Recording, egress: Egress): Promise<void> {
  const status = END_OF_STATUS[egress.status];
  if (status === undefined) return;
  const endedAt = egress.endedAt ?? deps.clock.now();
  const error = egress.error === '' ? undefined : egress.error;
  await deps.store.recordings.end(recording.id, { status, stoppedAt: endedAt, error });
  await deps.store.recordings.complete(recording.id, {
    status,
    endedAt,
    error,
    sizeBytes: egress.file?.sizeBytes,
    durationMs: egress.file?.durationMs,
  });
}

async function isRecorderLost(deps: SettleDeps, recording: Recording, joinMs: number): Promise<boolean> {
  if (deps.clock.now() - (recording.startedAt ?? recording.createdAt) < joinMs) return false;
  return !(await hasRecorder(deps.mediaServer, recording));
}

async function hasRecorder(mediaServer: MediaServer, recording: Recording): Promise<boolean> {
  try {
    await mediaServer.getParticipant(recording.room, recording.egressId ?? '');
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'participant-not-found') return false;
    throw error;
  }
}

async function endRecording(
  deps: SettleDeps,
  recording: Recording,
  status: RecordingEnd['status'],
  error?: string,
): Promise<void> {
  await deps.store.recordings.end(recording.id, { status, stoppedAt: deps.clock.now(), error });
}
