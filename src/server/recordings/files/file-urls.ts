import type { FileUrls } from '../../webhooks/sender/sender.ts';
import type { RecordingStores } from '../store.ts';
import { type LinkDeps, signFileLink } from './file-link.ts';
import type { RecordingFiles } from './recording-files.ts';

export type FileUrlsDeps = LinkDeps & {
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly recordingFiles: RecordingFiles;
  /** Where receivers reach this service; known once it listens. */
  readonly serviceUrl: () => string;
};

/** The whole of a day in which a receiver may fetch the file at leisure. */
const TTL_SECONDS = 24 * 3600;

/** Pre-signed for an object of a bucket, a signed link to this service for a local file. */
export function createFileUrls(deps: FileUrlsDeps): FileUrls {
  return {
    urlOf: async (recordingId) => {
      const recording = await deps.store.recordings.find(recordingId);
      // The size is known when the file is complete.
      if (recording === undefined || recording.sizeBytes === null) return undefined;
      if (recording.bucket !== null) return await deps.recordingFiles.signedUrl(recording, TTL_SECONDS);
      return deps.serviceUrl() + signFileLink(deps, recording.id, TTL_SECONDS);
    },
  };
}
