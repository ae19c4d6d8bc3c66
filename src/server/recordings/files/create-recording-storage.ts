import type { BucketFilesDeps, ObjectStorage } from './bucket-files.ts';
import { makeRecordingFolder } from './make-recording-folder.ts';
import type { RecordingStorage } from './recording-storage.ts';
import { tryBucket } from './try-bucket.ts';
import { tryFolder } from './try-folder.ts';

/** For at most five steps, for which somebody waits. */
const TIMEOUT_MS = 4000;

/** The storage of the next recording: the bucket, or the folder if there is none. */
export function createRecordingStorage(
  deps: Omit<BucketFilesDeps, 'storage'> & {
    readonly bucket: (ObjectStorage & { readonly bucket: string }) | undefined;
    readonly directory: string;
  },
): RecordingStorage {
  const { bucket, directory, clock, timeoutMs = TIMEOUT_MS } = deps;
  if (bucket === undefined) {
    return {
      kind: 'recording folder',
      makeReady: (filepath) => makeRecordingFolder(directory, filepath),
      tryOut: (filepath) => tryFolder(directory, filepath),
    };
  }
  const trialDeps = { clock, storage: bucket, timeoutMs };
  return {
    kind: 'bucket',
    makeReady: async () => {},
    tryOut: (filepath) => tryBucket(trialDeps, { bucket: bucket.bucket, filepath }),
  };
}
