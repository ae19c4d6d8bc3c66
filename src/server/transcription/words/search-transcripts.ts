import { ServiceError } from '../../../contract/errors.ts';
import type { TranscriptionListQuery } from '../../../contract/transcript-queries.ts';
import type { TranscriptHit, TranscriptHitList } from '../../../contract/words.ts';
import { cursorOf } from '../../platform/http/cursor.ts';
import { toSegment } from '../resolve-speakers.ts';
import type { WordHit, WordStores } from './store.ts';

const positions = cursorOf('hits', 'number');

export type TranscriptSearch = Omit<TranscriptionListQuery, 'q' | 'status' | 'limit'> & {
  readonly q: string;
  readonly limit: number;
};

/**
 * Returns the search that a query asks for; undefined when it asks for a list.
 *
 * @throws ServiceError invalid-request when it has parameters of both.
 */
export function searchOf({
  q,
  status,
  ...query
}: TranscriptionListQuery & { readonly limit: number }): TranscriptSearch | undefined {
  if (q === undefined) {
    for (const name of ['language', 'since', 'until'] as const) {
      if (query[name] !== undefined) throw misplaced(name, 'goes with q only');
    }
    return undefined;
  }
  if (status !== undefined) throw misplaced('status', 'does not go with q');
  return { q, ...query };
}

/** Finds segments that have all words of `q`, those that were stored last first. */
export async function searchTranscripts(
  { store }: { readonly store: Pick<WordStores, 'words'> },
  { q: text, roomId: room, recordingId: egressId, language, ...asked }: TranscriptSearch,
): Promise<TranscriptHitList> {
  const { limit, cursor } = asked;
  const { hits, nextBefore } = await store.words.search({
    ...{ text, room, egressId, language, limit },
    since: instantOf(asked.since),
    until: instantOf(asked.until),
    before: cursor === undefined ? undefined : positions.decode(cursor)[0],
  });
  return { hits: hits.map(toHit), nextCursor: nextBefore === null ? null : positions.encode(nextBefore) };
}

function toHit({ pieces, ...found }: WordHit): TranscriptHit {
  const { kind, room, egressId } = found.transcription;
  return {
    kind,
    roomId: room,
    recordingId: egressId,
    segment: toSegment(found),
    highlighted: pieces
      .map((text, index) => ({ text, match: index % 2 === 1 }))
      .filter(({ text }) => text !== ''),
  };
}

function instantOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function misplaced(parameter: string, detail: string): ServiceError {
  return new ServiceError('invalid-request', `Parameter ${parameter} ${detail}.`, {
    errors: [{ parameter, detail }],
  });
}
