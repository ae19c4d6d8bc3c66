import type { DomainEvent } from '../events/event-payload.ts';
import type { Transcription } from './store.ts';

export type EndedTranscription = {
  /** A transcription that is stopped, completed or failed. */
  readonly transcription: Transcription;
  readonly segmentCount: number;
  readonly isReconciled: boolean;
};

/**
 * Returns the event of a transcription that has ended: transcription_failed with the error, else transcription_completed.
 * The event has no text; receivers read the text from the API.
 */
export function transcriptionEvent({
  transcription,
  segmentCount,
  isReconciled,
}: EndedTranscription): DomainEvent {
  const { id, status, endedAt, createdAt } = transcription;
  const type = status === 'failed' ? 'transcription_failed' : 'transcription_completed';
  return {
    type,
    sourceId: `${type}:${id}`,
    occurredAt: endedAt ?? createdAt,
    subject: { transcription: { ...factsOf(transcription), segmentCount, ...errorOf(transcription) } },
    isReconciled,
  };
}

function factsOf(transcription: Transcription) {
  const { id: transcriptionId, kind, room: roomId, status, language, createdAt, endedAt } = transcription;
  const facts = { transcriptionId, kind, roomId, status, language };
  if (kind === 'live') return { ...facts, startedAt: instant(createdAt), stoppedAt: instant(endedAt) };
  const { egressId: recordingId, durationMs } = transcription;
  return { ...facts, recordingId, queuedAt: instant(createdAt), completedAt: instant(endedAt), durationMs };
}

function errorOf({ status, errorCode, errorMessage }: Transcription) {
  return status === 'failed' ? { error: { code: errorCode, message: errorMessage } } : {};
}

function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
