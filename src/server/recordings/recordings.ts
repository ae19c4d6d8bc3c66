import { ServiceError } from '../../contract/errors.ts';
import type {
  RecordingList,
  RecordingListQuery,
  Recording as RecordingRecord,
  RecordingStatus,
} from '../../contract/recordings.ts';
import { toInstant } from '../platform/clock.ts';
import { type OfRooms, pageReader } from '../platform/http/read-page.ts';
import type { Log } from '../platform/log.ts';
import { getRoom } from '../rooms/rooms.ts';
import { type EgressStateDeps, findRunning, type RefreshDeps, refreshRecording } from './egress-state.ts';
import type { OpenFile, RecordingFiles, RecordingStorage } from './files/recording-files.ts';
import { isActive, isPending } from './lifecycle.ts';
import type { Recording, RecordingStores } from './store.ts';

const readPage = pageReader('recordings');

export type LibraryDeps = RefreshDeps;

/** Returns whether the room is being recorded. Throws room-not-found for a room that is neither open nor being recorded. */
export async function getRecordingStatus(deps: EgressStateDeps, room: string): Promise<RecordingStatus> {
  const running = await findRunning(deps, room, 'recording');
  if (running !== undefined) {
    const { egressId, startedAt } = running;
    const mediaStartedAt = toInstant(readMediaStart(deps, running));
    return { isRecording: true, egressId, startedAt: toInstant(startedAt), mediaStartedAt };
  }
  await getRoom(deps, room);
  return { isRecording: false, egressId: null, startedAt: null, mediaStartedAt: null };
}

/**
 * The recorder announces its first frame in advance. While it records, the time is returned once the frame has been
 * recorded.
 */
function readMediaStart({ clock }: Pick<EgressStateDeps, 'clock'>, recording: Recording): number | null {
  const { status, mediaStartedAt } = recording;
  if (mediaStartedAt === null || (status === 'recording' && mediaStartedAt > clock.now())) return null;
  return mediaStartedAt;
}

/**
 * Lists stored recordings, the newest first. Recordings that are being started are left out, so that a page may be shorter
 * than its limit without being the last one.
 */
export async function listRecordings(
  deps: Pick<EgressStateDeps, 'store' | 'clock'>,
  { roomId: room, rooms, status, ...asked }: OfRooms<RecordingListQuery>,
): Promise<RecordingList> {
  const { rows, nextCursor } = await readPage(asked, (wanted) =>
    deps.store.recordings.list({ kind: 'recording', room, rooms, status, ...wanted }),
  );
  return {
    recordings: rows.flatMap((row) => (row.status === 'starting' ? [] : [toRecord(deps, row)])),
    nextCursor,
  };
}

/** Returns a recording, updated from the media server if its end is not known yet. Throws recording-not-found. */
export async function getRecording(deps: LibraryDeps, recordingId: string): Promise<RecordingRecord> {
  return toRecord(deps, await refreshRecording(deps, await findRecording(deps, recordingId)));
}

/**
 * Finds a recording by egress id, which the specification calls recordingId, or by our own id. Throws recording-not-
 * found.
 */
async function findRecording(
  { store }: Pick<EgressStateDeps, 'store'>,
  recordingId: string,
): Promise<Recording> {
  const recording = await findByEitherId(store, recordingId);
  if (recording?.kind === 'recording' && recording.status !== 'starting') return recording;
  throw recordingNotFound(recordingId);
}

/** Finds a recording or a broadcast by its egress id, or by our own id. */
export async function findByEitherId(
  { recordings }: Pick<RecordingStores, 'recordings'>,
  id: string,
): Promise<Recording | undefined> {
  // Other texts are neither of the two ids, and may contain characters that a database rejects.
  if (!/^[\w-]+$/.test(id)) return undefined;
  return (await recordings.findByEgressId(id)) ?? (await recordings.find(id));
}

export function recordingNotFound(id: string): ServiceError {
  return new ServiceError('recording-not-found', `There is no recording ${JSON.stringify(id)}.`);
}

export type Download = { readonly url: string } | { readonly file: OpenFile; readonly name: string };

/**
 * Lifetime of the URL. A client that follows the redirect does so at once; a client that resumes later requests another URL.
 */
const URL_TTL_SECONDS = 300;

/**
 * Returns a pre-signed URL, or the file itself. Throws recording-not-found, recording-not-finished,
 * recording-file-not-found, recording-storage-error and storage-unavailable.
 */
export async function downloadRecording(deps: LibraryDeps, recordingId: string): Promise<Download> {
  const recording = await findFinishedRecording(deps, recordingId);
  if (!mayHaveFile(recording)) throw noFile(recording);
  if (recording.bucket === null) {
    const file = await deps.recordingFiles.open(recording);
    if (file === undefined) throw noFile(recording);
    return { file, name: recording.filepath.split('/').at(-1) ?? 'recording.mp4' };
  }
  if ((await deps.recordingFiles.find(recording)) === undefined) throw noFile(recording);
  const url = await deps.recordingFiles.signedUrl(recording, URL_TTL_SECONDS);
  if (url === undefined) throw noFile(recording);
  return { url };
}

/**
 * Deletes the file, then the record: if the file cannot be deleted, the record remains and the call can be repeated. A
 * missing file is no error. Throws the errors of downloadRecording except recording-file-not-found.
 */
export async function deleteRecording(deps: LibraryDeps, recordingId: string): Promise<void> {
  await deleteStored(deps, await findRecording(deps, recordingId));
}

/** Deletes the files of a recording, or the HLS of a broadcast, and then its record. */
export async function deleteStored(deps: LibraryDeps, found: Recording): Promise<void> {
  const recording = await refreshRecording(deps, found);
  refuseUnfinished(recording);
  const { kind, filepath } = recording;
  if (kind === 'broadcast') {
    if (filepath !== '') await deps.recordingFiles.deleteHlsFolder(recording);
  } else if (mayHaveFile(recording)) {
    await deps.recordingFiles.delete(recording);
  }
  await deps.store.recordings.delete(recording.id);
  if (filepath === '') return;
  const folder = filepath.slice(0, filepath.lastIndexOf('/'));
  deps.releaseFolder?.(kind === 'broadcast' ? { ...recording, filepath: folder } : recording);
}

/** Returns a recording whose file, if there is one, is complete. Throws recording-not-found and recording-not-finished. */
export async function findFinishedRecording(deps: LibraryDeps, recordingId: string): Promise<Recording> {
  const recording = await refreshRecording(deps, await findRecording(deps, recordingId));
  refuseUnfinished(recording);
  return recording;
}

/** Returns whether the recording may have a file: an egress that was never created, or received no media, writes none. */
export function mayHaveFile({ egressId, status }: Recording): boolean {
  return egressId !== null && status !== 'aborted';
}

function refuseUnfinished(recording: Recording): void {
  if (isActive(recording)) {
    throw new ServiceError(
      'recording-not-finished',
      `The ${recording.kind} is still running; stop it first.`,
    );
  }
  if (isPending(recording)) {
    throw new ServiceError(
      'recording-not-finished',
      `The file of the ${recording.kind} is still being written.`,
      {
        retryable: true,
      },
    );
  }
}

export function noFile({ status }: Recording): ServiceError {
  const detail =
    status === 'stopped'
      ? 'The file of the recording is no longer where it was stored.'
      : `The recording ${status === 'aborted' ? 'was aborted before any media came' : 'failed'}: it has no file.`;
  return new ServiceError('recording-file-not-found', detail);
}

export function toRecord(deps: Pick<EgressStateDeps, 'clock'>, row: Recording): RecordingRecord {
  return {
    recordingId: row.egressId ?? row.id,
    roomId: row.room,
    status: row.status === 'starting' ? 'recording' : row.status,
    startedAt: toInstant(row.startedAt),
    mediaStartedAt: toInstant(readMediaStart(deps, row)),
    stoppedAt: toInstant(row.stoppedAt),
    endedAt: toInstant(row.endedAt),
    durationMs: row.durationMs,
    sizeBytes: row.sizeBytes,
    error: row.error,
    file: row.sizeBytes === null ? null : { bucket: row.bucket, path: row.filepath },
  };
}

type PurgeBatch = { readonly before: number; readonly limit: number; readonly signal: AbortSignal };

/**
 * Deletes recordings that ended before `before`, with their files, the oldest first, and returns their number. A recording
 * that cannot be deleted is logged and left for the next round, and does not block the others.
 *
 * @throws ServiceError storage-unavailable when the storage does not respond: then no other recording can be deleted either.
 */
export async function purgeRecordings(
  deps: LibraryDeps,
  { before, limit, signal }: PurgeBatch,
): Promise<number> {
  let deleted = 0;
  let after: Recording | undefined;
  for (;;) {
    const batch = await deps.store.recordings.listEnded({ before, limit, after });
    for (const recording of batch) {
      if (signal.aborted) return deleted;
      if (await isDeleted(deps, recording)) deleted += 1;
    }
    after = batch.at(-1);
    if (after === undefined) return deleted;
  }
}

async function isDeleted(deps: LibraryDeps, recording: Recording): Promise<boolean> {
  const { id, egressId } = recording;
  try {
    await deleteStored(deps, recording);
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'storage-unavailable') throw error;
    // Another instance has deleted it at the same time.
    if (error.code === 'recording-not-found') return false;
    deps.log.warn(
      { err: error, recordingId: egressId ?? id },
      'a recording that is past its retention could not be deleted; trying again',
    );
    return false;
  }
}

type UnusedFolderDeps = {
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly recordingFiles: Pick<RecordingFiles, 'removeEmptyFolders'>;
  readonly recordingStorage: Pick<RecordingStorage, 'makeReady'>;
  readonly log: Log;
};

/** Removes the folder of a recording without a file, unless its room is being recorded or other files are in it. */
export async function removeUnusedFolder(deps: UnusedFolderDeps, recording: Recording): Promise<void> {
  if (recording.bucket !== null) return;
  const { recordings } = deps.store;
  if ((await recordings.findActive(recording.room, 'recording')) !== undefined) return;
  try {
    await deps.recordingFiles.removeEmptyFolders(recording);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    deps.log.debug({ recordingId: recording.id, err: error }, 'an empty folder could not be removed');
  }
  // A recording that started in the meantime uses the folder without having made it.
  const started = await recordings.findActive(recording.room, 'recording');
  if (started !== undefined) await deps.recordingStorage.makeReady(started.filepath);
}
