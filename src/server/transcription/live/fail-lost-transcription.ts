import { type AppendEventsDeps, appendEvents } from '../../events/append-events.ts';
import { appendRoomEvent, lockNamedRoom } from '../../events/append-room-event.ts';
import { MAX_LIVE_LOSSES, type Transcription, type TranscriptionStores } from '../store.ts';
import { transcriptionEvent } from '../transcription-events.ts';

const ERROR = {
  errorCode: 'worker-lost',
  errorMessage: 'Several workers died while they transcribed this room: check their logs and memory limits.',
} as const;

/** Whether the transcription has ended so many workers that no other worker may claim it. */
export function isLost({ attempts }: Transcription): boolean {
  return attempts >= MAX_LIVE_LOSSES;
}

/** Ends a live transcription as failed and appends its event in the same transaction. False when it was not active. */
export async function failLostTranscription(
  deps: AppendEventsDeps<TranscriptionStores>,
  { id, room: roomName, createdAt }: Transcription,
): Promise<boolean> {
  return await appendEvents(deps, async (store, appender) => {
    const room = await lockNamedRoom(store, roomName);
    const endedAt = Math.max(deps.clock.now(), createdAt);
    const transcription = await store.transcriptions.failLive(id, { endedAt, ...ERROR });
    if (transcription === undefined) return false;
    const segmentCount = await store.transcriptions.countSegments(id);
    const domainEvent = transcriptionEvent({ transcription, segmentCount, isReconciled: false });
    await appendRoomEvent(store, appender, { room, domainEvent });
    return true;
  });
}
