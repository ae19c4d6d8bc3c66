import { ServiceError } from '../../contract/errors.ts';
import { MAX_SPEAKERS, type SpeakerUpdate } from '../../contract/transcription.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { TranscriptionStores } from './store.ts';
import { findOfRoom } from './transcriptions.ts';

/** Names speakers, also in existing segments. Throws transcription-not-found, and invalid-request for too large a map. */
export async function nameSpeakers(
  { store }: { readonly store: UnitOfWork<TranscriptionStores> },
  room: string,
  { participants }: SpeakerUpdate,
): Promise<void> {
  await store.transaction(async (within) => {
    const { id } = await findOfRoom(within, room);
    const changed = await within.transcriptions.updateSpeakers(id, participants);
    if (Object.keys(changed?.speakers ?? {}).length <= MAX_SPEAKERS) return;
    const detail = `would make the map larger than ${MAX_SPEAKERS} names`;
    throw new ServiceError('invalid-request', `#/participants ${detail}.`, {
      errors: [{ pointer: '#/participants', detail }],
    });
  });
}
