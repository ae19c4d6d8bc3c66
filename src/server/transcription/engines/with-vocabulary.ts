import type { Log } from '../../platform/log.ts';
import type { VocabularyStores } from '../vocabulary/vocabularies.sql.ts';
import type { SpeechEngine } from './speech.ts';

type VocabularyDeps = {
  readonly store: VocabularyStores;
  readonly engine: SpeechEngine;
  readonly log: Log;
};

/**
 * Returns the engine of one transcription, which prefers the current vocabulary of the room. While the database does not
 * respond the vocabulary is empty.
 */
export function withVocabulary({ store, engine, log }: VocabularyDeps, room: string): SpeechEngine {
  const reading = store.vocabularies.find(room).catch((error: unknown) => {
    log.warn({ err: error }, 'reading the vocabulary of a room failed; transcribing without it');
    return [];
  });
  return {
    name: engine.name,
    get languages() {
      return engine.languages;
    },
    isRemoteFor: (language) => engine.isRemoteFor(language),
    maxSegmentSecondsFor: (language) => engine.maxSegmentSecondsFor(language),
    supports: (language) => engine.supports(language),
    prepare: (language) => engine.prepare(language),
    recognise: async (request) => engine.recognise({ ...request, vocabulary: await reading }),
    close: () => engine.close(),
  };
}
