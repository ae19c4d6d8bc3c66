import {
  type AppendEventsDeps,
  appendEvents,
  appendRoomEvent,
  lockNamedRoom,
} from '../events/append-events.ts';
import type { Log } from '../platform/log.ts';
import { MAX_LIVE_LOSSES, type Transcription, type TranscriptionStores } from './store.ts';
import { transcriptionEvent } from './transcription-events.ts';

type FailLostDeps = AppendEventsDeps<TranscriptionStores> & { readonly log: Log };

const ERROR = {
  errorCode: 'worker-lost',
  errorMessage: 'Several workers died while they transcribed this room: check their logs and memory limits.',
} as const;

/** Ends the live transcriptions that have ended too many workers as failed. Returns the others, which a worker may claim. */
export async function failLostTranscriptions(
  deps: FailLostDeps,
  transcriptions: readonly Transcription[],
): Promise<readonly Transcription[]> {
  const others: Transcription[] = [];
  for (const transcription of transcriptions) {
    const { id: transcriptionId, attempts } = transcription;
    if (attempts < MAX_LIVE_LOSSES) {
      others.push(transcription);
      continue;
    }
    deps.log.error({ transcriptionId, attempts }, 'a live transcription crashed its workers and has failed');
    await failTranscription(deps, transcription);
  }
  return others;
}

/** Ends the transcription and appends its event in the same transaction, unless it is no longer active. */
async function failTranscription(
  deps: FailLostDeps,
  { id, room: roomName, createdAt }: Transcription,
): Promise<void> {
  await appendEvents(deps, async (store, appender) => {
    const room = await lockNamedRoom(store, roomName);
    const endedAt = Math.max(deps.clock.now(), createdAt);
    const transcription = await store.transcriptions.failLive(id, { endedAt, ...ERROR });
    if (transcription === undefined) return;
    const segmentCount = await store.transcriptions.countSegments(id);
    const domainEvent = transcriptionEvent({ transcription, segmentCount, isReconciled: false });
    await appendRoomEvent(store, appender, { room, domainEvent });
  });
}
