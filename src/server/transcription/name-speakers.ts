import { ServiceError } from '../../contract/errors.ts';
import { MAX_SPEAKERS, type SpeakerUpdate } from '../../contract/transcription.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { TranscriptionStores } from './store.ts';
import { findOfRoom, unknownTranscription } from './transcriptions.ts';

type NameSpeakersDeps = { readonly store: UnitOfWork<TranscriptionStores> };

/** Names speakers, also in existing segments. Throws transcription-not-found, and invalid-request for too large a map. */
export async function nameSpeakers(
  { store }: NameSpeakersDeps,
  id: string,
  update: SpeakerUpdate,
): Promise<void> {
  await store.transaction((within) => updateSpeakers(within, id, update));
}

/** Names speakers of the active or newest transcription of a room. */
export async function nameSpeakersOfRoom(
  { store }: NameSpeakersDeps,
  room: string,
  update: SpeakerUpdate,
): Promise<void> {
  await store.transaction(async (within) => {
    const { id } = await findOfRoom(within, room);
    await updateSpeakers(within, id, update);
  });
}

async function updateSpeakers(
  store: TranscriptionStores,
  id: string,
  { participants }: SpeakerUpdate,
): Promise<void> {
  const changed = await store.transcriptions.updateSpeakers(id, participants);
  if (changed === undefined) throw unknownTranscription(id);
  if (Object.keys(changed.speakers).length <= MAX_SPEAKERS) return;
  const detail = `would make the map larger than ${MAX_SPEAKERS} names`;
  throw new ServiceError('invalid-request', `#/participants ${detail}.`, {
    errors: [{ pointer: '#/participants', detail }],
  });
}
