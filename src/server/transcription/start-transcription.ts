import { DEFAULT_LANGUAGE, type LiveStart, type LiveStarted } from '../../contract/transcription.ts';
import type { IdGenerator } from '../platform/clock.ts';
import { findRoom, type MediaDeps } from '../rooms/rooms.ts';
import { formatLanguage, requireWorker, type SpeechWorkerDeps } from './speech-workers.ts';

export type StartTranscriptionDeps = SpeechWorkerDeps & MediaDeps & { readonly ids: IdGenerator };

export type StartedTranscription = {
  readonly started: LiveStarted;
  /** The requested language, when a transcription in another language is active. */
  readonly ignoredLanguage: string | undefined;
};

/**
 * Returns the active transcription of the room, or starts a new one, which a worker then claims. Throws
 * addon-unavailable, invalid-request for a language that no worker supports, and room-not-found.
 */
export async function startTranscription(
  deps: StartTranscriptionDeps,
  room: string,
  request: LiveStart,
): Promise<StartedTranscription> {
  const language = formatLanguage(request.language ?? DEFAULT_LANGUAGE);
  await requireWorker(deps, 'stt-live', language);
  const { sid: roomSid } = await findRoom(deps, room);
  const { options, participants } = request;
  const { transcription } = await deps.store.transcriptions.startLive({
    id: `tr_${deps.ids.next()}`,
    room,
    roomSid,
    language,
    speakers: participants ?? {},
    options: {
      partialResults: options?.partialResults ?? false,
      captions: options?.captions ?? true,
      punctuation: options?.punctuation ?? true,
      profanityFilter: options?.profanityFilter ?? false,
    },
    createdAt: deps.clock.now(),
  });
  const isIgnored = request.language !== undefined && language !== transcription.language;
  return {
    ignoredLanguage: isIgnored ? language : undefined,
    started: {
      transcriptionId: transcription.id,
      roomId: room,
      status: 'active',
      language: transcription.language,
      startedAt: new Date(transcription.createdAt).toISOString(),
    },
  };
}
