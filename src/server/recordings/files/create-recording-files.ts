import { missingFile } from './bucket-errors.ts';
import { type BucketFilesDeps, createBucketFiles } from './bucket-files.ts';
import { createFolderFiles } from './folder-files.ts';
import type { RecordingFiles } from './recording-files.ts';

/**
 * Finds the files of each recording in the storage that it was made with, because the settings may have changed from a
 * folder to a bucket since.
 */
export function createRecordingFiles(deps: BucketFilesDeps & { readonly directory: string }): RecordingFiles {
  const bucket = createBucketFiles(deps);
  const folder = createFolderFiles(deps.directory);
  return {
    find: (location) => (location.bucket === null ? folder : bucket).find(location),
    signedUrl: async (location, seconds) =>
      location.bucket === null ? undefined : await bucket.signedUrl(location, seconds),
    read: async (location, start, length) => {
      if (location.bucket !== null) return await bucket.read(location, start, length);
      const file = await folder.open(location);
      if (file === undefined) throw missingFile();
      return file.read(start, length);
    },
    open: async (location) => (location.bucket === null ? await folder.open(location) : undefined),
    removeEmptyFolders: async (location) => {
      if (location.bucket === null) await folder.removeEmptyFolders(location);
    },
    deleteHlsFolder: (location) => (location.bucket === null ? folder : bucket).deleteHlsFolder(location),
    delete: (location) => (location.bucket === null ? folder : bucket).delete(location),
  };
}
