import { DEFAULT_LANGUAGE, type PostQueue, type PostQueued } from '../../../contract/transcription.ts';
import type { IdGenerator } from '../../platform/clock.ts';
import { findFinishedRecording, type LibraryDeps, mayHaveFile, noFile } from '../../recordings/recordings.ts';
import { formatLanguage, requireWorker, type SpeechWorkerDeps } from '../speech-workers.ts';

export type QueueTranscriptionDeps = LibraryDeps & SpeechWorkerDeps & { readonly ids: IdGenerator };

/**
 * Queues a recording for the stt-post workers, or returns its existing transcription in this language unless that one
 * failed. Throws addon-unavailable, invalid-request for a language that no worker supports, recording-not-found,
 * recording-not-finished and recording-file-not-found.
 */
export async function queueTranscription(
  deps: QueueTranscriptionDeps,
  recordingId: string,
  request: PostQueue,
): Promise<PostQueued> {
  const language = formatLanguage(request.language ?? DEFAULT_LANGUAGE);
  await requireWorker(deps, 'stt-post', language);
  const recording = await findFinishedRecording(deps, recordingId);
  const { egressId } = recording;
  if (egressId === null || !mayHaveFile(recording)) throw noFile(recording);
  const { transcription } = await deps.store.transcriptions.enqueuePost({
    id: `tr_${deps.ids.next()}`,
    room: recording.room,
    roomSid: recording.roomSid,
    recordingId: recording.id,
    egressId,
    language,
    speakers: request.participants ?? {},
    createdAt: deps.clock.now(),
    originAt: recording.mediaStartedAt ?? recording.startedAt ?? recording.createdAt,
  });
  return {
    transcriptionId: transcription.id,
    recordingId: egressId,
    // It is never `failed`: a new transcription replaces a failed one.
    status: transcription.status as PostQueued['status'],
    queuedAt: new Date(transcription.createdAt).toISOString(),
  };
}
