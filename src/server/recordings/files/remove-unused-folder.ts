import { ServiceError } from '../../../contract/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { Recording, RecordingStores } from '../store.ts';
import type { RecordingFiles } from './recording-files.ts';
import type { RecordingStorage } from './recording-storage.ts';

export type UnusedFolderDeps = {
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly recordingFiles: Pick<RecordingFiles, 'removeEmptyFolder'>;
  readonly recordingStorage: Pick<RecordingStorage, 'makeReady'>;
  readonly log: Log;
};

/** Removes the folder of a recording without a file, unless its room is being recorded or other files are in it. */
export async function removeUnusedFolder(deps: UnusedFolderDeps, recording: Recording): Promise<void> {
  if (recording.bucket !== null) return;
  const { recordings } = deps.store;
  if ((await recordings.findActive(recording.room)) !== undefined) return;
  try {
    await deps.recordingFiles.removeEmptyFolder(recording);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    deps.log.debug({ recordingId: recording.id, err: error }, 'an empty folder could not be removed');
  }
  // A recording that started in the meantime uses the folder without having made it.
  const started = await recordings.findActive(recording.room);
  if (started !== undefined) await deps.recordingStorage.makeReady(started.filepath);
}
