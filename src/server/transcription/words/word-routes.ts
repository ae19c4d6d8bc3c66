import { ParticipantParams } from '../../../contract/participants.ts';
import {
  ERASED,
  type ErasedTraces,
  ForgetWordsQuery,
  type ForgottenWords,
  ForgottenWordsSchema,
} from '../../../contract/words.ts';
import { defineRoute, type Route, requireScope } from '../../platform/http/route.ts';
import type { Speaker, WordStores } from './store.ts';

export type WordDeps = {
  readonly store: Pick<WordStores, 'words'>;
  /** Erases what is stored of the participant beside the words. Needs the segments, and therefore comes first. */
  readonly erasePerson: (person: Speaker) => Promise<ErasedTraces>;
};

/** Routes about one participant's speech in all transcriptions. */
export function wordRoutes(deps: WordDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'DELETE',
      path: '/v1/rooms/:roomId/participants/:participantId/words',
      operationId: 'forgetWords',
      tag: 'transcription',
      summary: "Delete a participant's words",
      description:
        'Deletes the segments of this identity from every transcription of the room, live and of recordings, and from the search; with `allRooms=true` from those of every room. The room may have ended and the participant may have left. The times at which the participant spoke in recordings are deleted too. Segments of recordings whose speaker is not known stay, and so does the sound: delete the recordings. A transcription that runs goes on storing what is said: stop it first. With `everything=true` a pseudonym replaces identity and name in events, deliveries and sessions, and metadata, blocks, ids in the audit log and names in maps of speakers are deleted. After an error the same request erases the rest.',
      security: 'signed',
      scopes: ['recordings'],
      params: ParticipantParams,
      query: ForgetWordsQuery,
      success: { 200: { description: 'What was deleted, and what remains', schema: ForgottenWordsSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ params: { roomId, participantId: identity }, query, caller }) => {
        const { allRooms, everything } = query;
        const person = { identity, room: allRooms === 'true' ? undefined : roomId };
        const ids = allRooms === 'true' ? { allRooms } : {};
        if (everything !== 'true') return { status: 200, body: await forgetWords(deps, person), ids };
        requireScope(['admin'], caller);
        const traces = await deps.erasePerson(person);
        const body = { ...(await forgetWords(deps, person)), traces };
        return { status: 200, body, ids: { ...ids, everything, participantId: ERASED } };
      },
    }),
  ];
}

/** Small, so that on SQLite other writers do not wait long: deleting a segment rewrites pages of the search index. */
const BATCH = 100;

/**
 * Deletes the speech of a participant, as far as transcripts name the speaker, from every live and post-call transcription
 * of the room or of all rooms, with the participant's turns in recordings. Works in parts; after an error the same request
 * deletes the rest.
 */
async function forgetWords(
  { store }: { readonly store: Pick<WordStores, 'words'> },
  speaker: Speaker,
): Promise<ForgottenWords> {
  const transcriptions = new Set<string>();
  let segments = 0;
  for (;;) {
    const deleted = await store.words.forget(speaker, BATCH);
    if (deleted.length === 0) break;
    segments += deleted.length;
    for (const id of deleted) transcriptions.add(id);
  }
  const remains = await store.words.countRemains(speaker);
  while ((await store.words.forgetTurns(speaker, BATCH)) > 0);
  return { segments, transcriptions: transcriptions.size, ...remains };
}
