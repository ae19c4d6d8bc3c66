import { ServiceError } from '../../contract/errors.ts';
import type {
  RecordingList,
  Recording as RecordingRecord,
  RecordingStatus,
} from '../../contract/recordings.ts';
import { pageReader } from '../platform/http/read-page.ts';
import { findRoom } from '../rooms/rooms.ts';
import {
  type EgressStateDeps,
  isStillRecording,
  type RefreshDeps,
  refreshRecording,
} from './egress-state.ts';
import type { OpenFile } from './files/recording-files.ts';
import { isActive, isPending } from './lifecycle.ts';
import { toInstant } from './recording-events.ts';
import type { Recording } from './store.ts';

const readPage = pageReader('recordings');

export type LibraryDeps = RefreshDeps;

export type RecordingsQuery = {
  readonly roomId?: string | undefined;
  readonly status?: RecordingRecord['status'] | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/** Whether the room is being recorded. Throws room-not-found for a room that is neither open nor being recorded. */
export async function getRecordingStatus(deps: EgressStateDeps, room: string): Promise<RecordingStatus> {
  const recording = await deps.store.recordings.findActive(room);
  if (recording?.startedAt != null && (await isStillRecording(deps, recording))) {
    const startedAt = new Date(recording.startedAt).toISOString();
    const current = (await deps.store.recordings.find(recording.id)) ?? recording;
    const mediaStartedAt = toInstant(mediaStartOf(deps, current));
    return { isRecording: true, egressId: recording.egressId, startedAt, mediaStartedAt };
  }
  await findRoom(deps, room);
  return { isRecording: false, egressId: null, startedAt: null, mediaStartedAt: null };
}

/** The recorder announces its first frame: while the recording runs, it is known when that has come. */
function mediaStartOf({ clock }: Pick<EgressStateDeps, 'clock'>, recording: Recording): number | null {
  const { status, mediaStartedAt } = recording;
  if (mediaStartedAt === null || (status === 'recording' && mediaStartedAt > clock.now())) return null;
  return mediaStartedAt;
}

/**
 * Newest first, as the store knows them. A start that is still under way is none yet: a page may be shorter than its
 * limit and not be the last.
 */
export async function listRecordings(
  deps: Pick<EgressStateDeps, 'store' | 'clock'>,
  { roomId: room, status, ...asked }: RecordingsQuery,
): Promise<RecordingList> {
  const { rows, nextCursor } = await readPage(asked, (wanted) =>
    deps.store.recordings.list({ room, status, ...wanted }),
  );
  return {
    recordings: rows.flatMap((row) => (row.status === 'starting' ? [] : [toRecord(deps, row)])),
    nextCursor,
  };
}

/** Throws recording-not-found. What is not known yet is asked of the media server. */
export async function getRecording(deps: LibraryDeps, recordingId: string): Promise<RecordingRecord> {
  return toRecord(deps, await refreshRecording(deps, await findRecording(deps, recordingId)));
}

/** By egress id, which is what the specification calls recordingId, or by our own id. Throws recording-not-found. */
async function findRecording(
  { store }: Pick<EgressStateDeps, 'store'>,
  recordingId: string,
): Promise<Recording> {
  // Anything else is no id of either, and may be no text that a database takes.
  const isId = /^[\w-]+$/.test(recordingId);
  const recording = isId
    ? ((await store.recordings.findByEgressId(recordingId)) ?? (await store.recordings.find(recordingId)))
    : undefined;
  if (recording !== undefined && recording.status !== 'starting') return recording;
  throw new ServiceError('recording-not-found', `There is no recording ${JSON.stringify(recordingId)}.`);
}

export type Download = { readonly url: string } | { readonly file: OpenFile; readonly name: string };

/** A client that follows a redirect begins at once; one that resumes later asks for another. */
const URL_TTL_SECONDS = 300;

/**
 * A pre-signed URL, or the file itself. Throws recording-not-found, recording-not-finished, recording-file-not-found,
 * recording-storage-error and storage-unavailable.
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
 * First the file, then the record: what fails on the way leaves the record, and the same call completes it. A file
 * that is gone already does not hold it up. Throws as downloadRecording does, but for recording-file-not-found.
 */
export async function deleteRecording(deps: LibraryDeps, recordingId: string): Promise<void> {
  const recording = await findFinishedRecording(deps, recordingId);
  if (mayHaveFile(recording)) await deps.recordingFiles.delete(recording);
  await deps.store.recordings.delete(recording.id);
  deps.releaseFolder?.(recording);
}

/** One whose file, if it has any, is complete. Throws recording-not-found and recording-not-finished. */
export async function findFinishedRecording(deps: LibraryDeps, recordingId: string): Promise<Recording> {
  const recording = await refreshRecording(deps, await findRecording(deps, recordingId));
  refuseUnfinished(recording);
  return recording;
}

/** Nothing is ever written for an egress that never came or got no media. */
export function mayHaveFile({ egressId, status }: Recording): boolean {
  return egressId !== null && status !== 'aborted';
}

function refuseUnfinished(recording: Recording): void {
  if (isActive(recording)) {
    throw new ServiceError('recording-not-finished', 'The recording is still running; stop it first.');
  }
  if (isPending(recording)) {
    throw new ServiceError('recording-not-finished', 'The file of the recording is still being written.', {
      retryable: true,
    });
  }
}

export function noFile({ status }: Recording): ServiceError {
  const detail =
    status === 'stopped'
      ? 'The file of the recording is no longer where it was stored.'
      : `The recording ${status === 'aborted' ? 'was aborted before any media came' : 'failed'}: it has no file.`;
  return new ServiceError('recording-file-not-found', detail);
}

function toRecord(deps: Pick<EgressStateDeps, 'clock'>, row: Recording): RecordingRecord {
  return {
    recordingId: row.egressId ?? row.id,
    roomId: row.room,
    status: row.status === 'starting' ? 'recording' : row.status,
    startedAt: toInstant(row.startedAt),
    mediaStartedAt: toInstant(mediaStartOf(deps, row)),
    stoppedAt: toInstant(row.stoppedAt),
    endedAt: toInstant(row.endedAt),
    durationMs: row.durationMs,
    sizeBytes: row.sizeBytes,
    error: row.error,
    file: row.sizeBytes === null ? null : { bucket: row.bucket, path: row.filepath },
  };
}
