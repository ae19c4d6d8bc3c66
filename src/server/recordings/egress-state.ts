import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { type Egress, findParticipant, type MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import type { RecordingFiles } from './files/recording-files.ts';
import { hasPassed, isActive, isOver, isPending } from './lifecycle.ts';
import { type MeasureDeps, measureEgress, measureFile } from './measure-file.ts';
import { type ApplyDeps, applyObservation } from './recording-events.ts';
import type { Recording, RecordingKind } from './store.ts';

/*
 * Updates the row of a recording from the media server.
 *
 * The egress of a dead recorder stays ACTIVE forever. The recorder is a participant whose identity is the egress id: it is
 * lost when it is no longer in the room. A recorder that is still joining gets time. A lost recorder is stopped before it
 * counts as dead: if only its browser died, its process continues to record and completes its file.
 */
const RECORDER_JOIN_MS = 60_000;

export type EgressStateDeps = ApplyDeps & MeasureDeps & { readonly mediaServer: MediaServer };

export type RefreshDeps = EgressStateDeps & { readonly recordingFiles: RecordingFiles; readonly log: Log };

const LOST = 'the recorder was lost';
const FORGOTTEN = 'the media server no longer knows this recording';

/** Returns whether the recording of an active row still runs. Ends the row when it does not. */
export async function isStillRecording(deps: EgressStateDeps, recording: Recording): Promise<boolean> {
  const { egressId } = recording;
  if (egressId === null || !(await isShownAsRunning(deps, recording, egressId))) return false;
  if (isYoungerThan(deps, recording, RECORDER_JOIN_MS)) return true;
  return await hasRecorderStayed(deps, recording, egressId);
}

/** The same for a recorder that was in its room. Only its browser, while it starts, may leave and join again. */
export async function hasKeptRecorder(deps: EgressStateDeps, recording: Recording): Promise<boolean> {
  const { egressId } = recording;
  if (egressId === null || !(await isShownAsRunning(deps, recording, egressId))) return false;
  const [egress] = await deps.mediaServer.listEgress({ egressId });
  if (egress !== undefined && mayBeStarting(deps, recording, egress)) return true;
  return await hasRecorderStayed(deps, recording, egressId);
}

async function hasRecorderStayed(
  deps: EgressStateDeps,
  recording: Recording,
  egressId: string,
): Promise<boolean> {
  if (await hasRecorder(deps.mediaServer, recording)) return true;
  const egress = await stopEgress(deps, egressId);
  if (egress === undefined) await endLost(deps, recording, egressId);
  else await applyStop(deps, recording, egress);
  return false;
}

/** Returns the current row of the room's recording or broadcast that runs. */
export async function findRunning(
  deps: EgressStateDeps,
  room: string,
  kind: RecordingKind,
): Promise<Recording | undefined> {
  const active = await deps.store.recordings.findActive(room, kind);
  if (active?.startedAt == null || !(await isStillRecording(deps, active))) return undefined;
  return (await deps.store.recordings.find(active.id)) ?? active;
}

/**
 * Ends the row of a recording whose recorder has left the room. If its egress began to end, or ended, since it was listed as
 * running, the recorder was not lost: it accepted a stop by another caller, such as an instance that compares at the same time.
 */
async function endLost(deps: EgressStateDeps, recording: Recording, egressId: string): Promise<void> {
  const [egress] = await deps.mediaServer.listEgress({ egressId });
  const hasAccepted = egress !== undefined && (egress.status === 'EGRESS_ENDING' || isOver(egress));
  if (hasAccepted) await applyStop(deps, recording, egress);
  else await endWithoutFile(deps, recording, LOST);
}

/**
 * Returns whether a recording whose recorder did not respond to a stop still has a recorder in its room. Ends the row when
 * it does not. A recorder that is not in the room gets no more time to join.
 */
export async function hasSilentRecorder(
  deps: EgressStateDeps,
  recording: Recording,
  egressId: string,
): Promise<boolean> {
  if (!(await isShownAsRunning(deps, recording, egressId))) return false;
  if (await hasRecorder(deps.mediaServer, recording)) return true;
  await endLost(deps, recording, egressId);
  return false;
}

/** Returns whether the media server lists the egress as starting or active. Ends the row when it does not. */
async function isShownAsRunning(
  deps: EgressStateDeps,
  recording: Recording,
  egressId: string,
): Promise<boolean> {
  const [egress] = await deps.mediaServer.listEgress({ egressId });
  if (egress === undefined) {
    await endWithoutFile(deps, recording, FORGOTTEN);
    return false;
  }
  const applied = await applyEgress(deps, recording, egress);
  return applied.recording?.status === 'recording';
}

/** Records that a recorder accepted a stop. The egress in its response may have ended already. */
export function applyStop(deps: EgressStateDeps, recording: Recording, egress: Egress) {
  if (isOver(egress)) return applyEgress(deps, recording, egress);
  return applyObservation(deps, recording, { type: 'stop-accepted', at: deps.clock.now() });
}

async function applyEgress(deps: EgressStateDeps, recording: Recording, shown: Egress) {
  const egress = await measureEgress(deps, recording, shown);
  return await applyObservation(deps, recording, { type: 'egress', egress, at: deps.clock.now() });
}

async function endWithoutFile(deps: EgressStateDeps, recording: Recording, reason: string): Promise<void> {
  const at = deps.clock.now();
  await applyObservation(deps, recording, { type: 'recorder-gone', reason, file: undefined, at });
}

/** Ends the row of a broadcast whose recorder sends nothing any more, although it is there. */
export async function endStuck(deps: EgressStateDeps, broadcast: Recording): Promise<void> {
  await endWithoutFile(deps, broadcast, 'the recorder got stuck when a receiver closed the connection');
}

/** Returns whether the recorder may still be starting: its browser takes time on a busy machine. */
export function mayBeStarting(deps: EgressStateDeps, recording: Recording, egress: Egress): boolean {
  return egress.status === 'EGRESS_STARTING' && isYoungerThan(deps, recording, RECORDER_JOIN_MS);
}

function isYoungerThan({ clock }: EgressStateDeps, { startedAt, createdAt }: Recording, ms: number): boolean {
  return !hasPassed(ms, { since: startedAt ?? createdAt, now: clock.now() });
}

/** Returns whether the recorder is in the room, or was until a moment ago. */
async function hasRecorder(mediaServer: MediaServer, recording: Recording): Promise<boolean> {
  return (await findParticipant(mediaServer, recording.room, recording.egressId ?? '')) !== undefined;
}

/**
 * Returns the recording updated from the media server. When the media server does not respond the stored row is returned, so
 * that recordings can be read without it.
 */
export async function refreshRecording(deps: RefreshDeps, recording: Recording): Promise<Recording> {
  const { egressId } = recording;
  if (egressId === null || !(isActive(recording) || isPending(recording))) return recording;
  try {
    if (isPending(recording)) return await refreshPending(deps, recording, egressId);
    // Also stores what it finds, such as the end of a recording whose recorder has left.
    await isStillRecording(deps, recording);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    deps.log.debug({ recordingId: recording.id, code: error.code }, 'a recording could not be refreshed');
    return recording;
  }
  return (await deps.store.recordings.find(recording.id)) ?? recording;
}

/** Updates a stopped recording whose end may be known by now. */
export async function refreshPending(
  deps: RefreshDeps,
  recording: Recording,
  egressId: string,
): Promise<Recording> {
  const [egress] = await deps.mediaServer.listEgress({ egressId });
  const applied =
    egress === undefined
      ? await endByFile(deps, recording, FORGOTTEN)
      : await applyEgress(deps, recording, egress);
  return applied.recording ?? recording;
}

async function endByFile(deps: RefreshDeps, recording: Recording, reason: string) {
  const found = recording.filepath === '' ? undefined : await deps.recordingFiles.find(recording);
  const isMeasured = found !== undefined && recording.kind === 'recording';
  const durationMs = isMeasured ? await measureFile(deps, recording, found.sizeBytes) : undefined;
  const file = found && { ...found, durationMs };
  const at = deps.clock.now();
  return await applyObservation(deps, recording, { type: 'recorder-gone', reason, file, at });
}

/*
 * A stopped recording may never report its end: its recorder may still store the file, which may take hours; it may have
 * been starting and never received the stop; or it died, and its egress stays unchanged forever. Another stop distinguishes
 * these cases, because a living recorder responds to it in any state. Without a recorder LiveKit responds
 * failed_precondition for an egress that is ending, and times out for any other.
 */
const STOP_AGAIN_AFTER_MS = 60_000;

/** Ends a recording that was stopped a while ago and whose recorder is lost. If there is a file it is kept. */
export async function endUnfinished(
  deps: RefreshDeps,
  recording: Recording,
  egressId: string,
): Promise<void> {
  const since = recording.stoppedAt ?? recording.createdAt;
  if (!hasPassed(STOP_AGAIN_AFTER_MS, { since, now: deps.clock.now() })) return;
  const egress = await stopEgress(deps, egressId);
  if (egress !== undefined) {
    await applyEgress(deps, recording, egress);
  } else if (!(await hasRecorder(deps.mediaServer, recording))) {
    // The media server removes a lost participant after some 20 s. A recorder that is still listed may only be slow.
    await endByFile(deps, recording, LOST);
  }
}

/** Stops an egress and returns it; undefined when it has not ended and no recorder responded. */
async function stopEgress({ mediaServer }: EgressStateDeps, egressId: string): Promise<Egress | undefined> {
  try {
    return await mediaServer.stopEgress(egressId);
  } catch (error) {
    if (!isWorkerSilent(error)) throw error;
    // The egress may have ended in the meantime.
    const [egress] = await mediaServer.listEgress({ egressId });
    return egress !== undefined && isOver(egress) ? egress : undefined;
  }
}

const SILENT_WORKER: readonly ErrorCode[] = ['media-worker-unavailable', 'conflict', 'recording-not-found'];

/** Returns whether the media server responded that the recorder did not: the recorder died, or its egress is ending or over. */
function isWorkerSilent(error: unknown): boolean {
  return error instanceof ServiceError && SILENT_WORKER.includes(error.code);
}
