import type { DomainEvent } from '../events/event-payload.ts';
import type { Transcription } from './store.ts';

/** The event of a transcription that was stopped or completed. It carries no text: receivers read that from the API. */
export function transcriptionEvent(
  transcription: Transcription,
  segmentCount: number,
  isReconciled: boolean,
): DomainEvent {
  const { id, endedAt, createdAt } = transcription;
  return {
    type: 'transcription_completed',
    sourceId: `transcription_completed:${id}`,
    occurredAt: endedAt ?? createdAt,
    subject: { transcription: { ...factsOf(transcription), segmentCount } },
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

function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
