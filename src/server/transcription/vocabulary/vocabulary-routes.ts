import { RoomParams } from '../../../contract/rooms.ts';
import { VocabularySchema } from '../../../contract/vocabulary.ts';
import type { KeyLimits } from '../../platform/http/limits/key-limits.ts';
import { defineRoute, type Route, requireCaller } from '../../platform/http/route.ts';
import type { VocabularyStores } from './vocabularies.sql.ts';

const ROUTE = {
  path: '/v1/rooms/:roomId/vocabulary',
  tag: 'transcription',
  security: 'signed',
  params: RoomParams,
  errors: ['storage-unavailable'],
} as const;

export type VocabularyDeps = {
  readonly store: VocabularyStores;
  readonly keyLimits: Pick<KeyLimits, 'quota' | 'refuse'>;
};

/** Names and terms that are likely to be said in a room. */
export function vocabularyRoutes({ store, keyLimits }: VocabularyDeps): readonly Route[] {
  return [
    defineRoute({
      ...ROUTE,
      method: 'GET',
      operationId: 'getVocabulary',
      summary: 'Read the vocabulary of a room',
      description: 'Empty if the room has none. The room does not have to be open.',
      scopes: ['read', 'rooms'],
      success: { 200: { description: 'The vocabulary', schema: VocabularySchema } },
      handle: async ({ params }) => ({
        status: 200,
        body: { terms: [...(await store.vocabularies.find(params.roomId))] },
      }),
    }),
    defineRoute({
      ...ROUTE,
      method: 'PUT',
      operationId: 'setVocabulary',
      summary: 'Replace the vocabulary of a room',
      description:
        'Transcriptions that begin afterwards prefer these names and terms, live and of recordings, if their model supports it. Repeated terms are stored once. The room does not have to be open, and keeps its vocabulary after its end.',
      scopes: ['rooms'],
      body: VocabularySchema,
      success: { 200: { description: 'The vocabulary as it is stored', schema: VocabularySchema } },
      errors: ['key-limit-reached', 'storage-unavailable'],
      handle: async ({ params, body, caller }) => {
        const by = requireCaller(caller);
        const terms = [...new Set(body.terms.map((term) => term.trim().replace(/\s+/gu, ' ')))];
        const vocabulary = { room: params.roomId, terms };
        if (!(await store.vocabularies.save(vocabulary, keyLimits.quota('vocabularies', by))))
          throw keyLimits.refuse('vocabularies', by);
        return { status: 200, body: { terms } };
      },
    }),
    defineRoute({
      ...ROUTE,
      method: 'DELETE',
      operationId: 'deleteVocabulary',
      summary: 'Delete the vocabulary of a room',
      description: 'Succeeds also if there is none.',
      scopes: ['rooms'],
      success: { 204: { description: 'The room has no vocabulary' } },
      handle: async ({ params }) => {
        await store.vocabularies.delete(params.roomId);
        return { status: 204 };
      },
    }),
  ];
}
