import { ServiceError } from '../../contract/errors.ts';
import type { Log } from '../platform/log.ts';
import { isActive, isOver, isStillRecording, type SettleDeps, settleEgress } from './apply-egress-state.ts';
import type { RecordingFiles } from './files/recording-files.ts';
import type { Recording } from './store.ts';

export type RefreshDeps = SettleDeps & { readonly recordingFiles: RecordingFiles; readonly log: Log };

/**
 * The recording with what the media server knows by now. Reading the library does not need the media server: when it
 * does not answer, what the store knows is what there is.
 */
export async function refreshRecording(deps: RefreshDeps, recording: Recording): Promise<Recording> {
  const { egressId } = recording;
  if (egressId === null || !(isActive(recording) || isPending(recording))) return recording;
  try {
    if (isPending(recording)) return await refreshPending(deps, recording, egressId);
    await isStillRecording(deps, recording);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    deps.log.debug({ recordingId: recording.id, code: error.code }, 'a recording could not be refreshed');
    return recording;
  }
  return (await deps.store.recordings.find(recording.id)) ?? recording;
}

/** Stopped, but its end was not told yet. */
export function isPending({ status, endedAt }: Recording): boolean {
  return status === 'stopped' && endedAt === null;
}

export async function refreshPending(
  deps: RefreshDeps,
  recording: Recording,
  egressId: string,
): Promise<Recording> {
  const [egress] = await deps.mediaServer.listEgress({ egressId });
  if (egress === undefined)
    await settleByFile(deps, recording, 'the media server no longer knows this recording');
  else if (!isOver(egress)) return recording;
  else await settleEgress(deps, recording, egress);
  return (await deps.store.recordings.find(recording.id)) ?? recording;
}

/** Nobody will ever tell, because of `reason`: what is in the storage is what there is. */
export async function settleByFile(deps: RefreshDeps, recording: Recording, reason: string): Promise<void> {
  const found = await deps.recordingFiles.find(recording);
  const { recordings } = deps.store;
  if (found !== undefined) {
    const { sizeBytes, modifiedAt: endedAt } = found;
    await recordings.complete(recording.id, { endedAt, sizeBytes });
    const file = { sizeBytes, durationMs: undefined };
    await deps.onEnded?.({ recording, status: 'stopped', error: undefined, file });
    return;
  }
  const error = `${reason}, and it has no file`;
  await recordings.complete(recording.id, { status: 'failed', endedAt: deps.clock.now(), error });
  await deps.onEnded?.({ recording, status: 'failed', error, file: undefined });
}
