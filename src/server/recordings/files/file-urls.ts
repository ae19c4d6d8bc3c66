import type { FileUrls } from '../../webhooks/sender/sender.ts';
import type { RecordingStores } from '../store.ts';
import { type LinkDeps, signFileLink } from './file-link.ts';
import type { RecordingFiles } from './recording-files.ts';

export type FileUrlsDeps = LinkDeps & {
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly recordingFiles: RecordingFiles;
  /** Address of this service for receivers. It is known once the service listens. */
  readonly serviceUrl: () => string;
};

/** A receiver has 24 h to fetch the file. */
const TTL_SECONDS = 24 * 3600;

/**
 * Creates URLs of files: a pre-signed URL for an object of a bucket, and a signed link to this service for a local file.
 */
export function createFileUrls(deps: FileUrlsDeps): FileUrls {
  return {
    urlOf: async (recordingId) => {
      const recording = await deps.store.recordings.find(recordingId);
      // The size is stored when the file is complete.
      if (recording === undefined || recording.sizeBytes === null) return undefined;
      if (recording.bucket !== null) return await deps.recordingFiles.signedUrl(recording, TTL_SECONDS);
      return deps.serviceUrl() + signFileLink(deps, recording.id, TTL_SECONDS);
    },
  };
}
