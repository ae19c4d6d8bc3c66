import type { TranscriptionListQuery } from '../../contract/transcript-queries.ts';
import type {
  LiveTranscription,
  PostQueue,
  PostQueued,
  PostTranscription,
  PostTranscriptionDetail,
  PostTranscriptionList,
  SpeakerUpdate,
} from '../../contract/transcription.ts';
import type { Vocabulary as WireVocabulary } from '../../contract/vocabulary.ts';
import type { TranscriptHit, TranscriptHitList } from '../../contract/words.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { recordingPath, roomPath, toQuery, transcriptionPath, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import { itemsOfPages, LARGEST_PAGE } from './pages.ts';
import type { TextFormat } from './transcription.ts';

type SearchParameters = 'q' | 'language' | 'since' | 'until';

/** Page size at most 200; default 50. */
export type ListTranscriptionsOptions = QueryOptions<Omit<TranscriptionListQuery, SearchParameters>>;

/** Page size at most 200; default 50. `since` and `until` are ISO 8601. */
export type SearchTranscriptionsOptions = QueryOptions<Omit<TranscriptionListQuery, 'q' | 'status'>>;

/** Transcriptions of recordings, and any transcription by its id: `client.transcriptions`. */
export class Transcriptions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/recordings/:recordingId/transcribe: queues a transcription, or returns the existing one unless it failed. */
  async create(recordingId: string, queue: PostQueue = {}, options?: CallOptions): Promise<PostQueued> {
    const path = recordingPath(recordingId, 'transcribe');
    return await this.#transport.call('POST', path, withBody(queue, options));
  }

  /** GET /v1/transcriptions: returns a page of the transcriptions of recordings, the newest first. */
  async list(options: ListTranscriptionsOptions = {}): Promise<PostTranscriptionList> {
    const { roomId, recordingId, status, limit, cursor } = options;
    const query = toQuery({ roomId, recordingId, status, limit, cursor });
    return await this.#transport.call('GET', `/v1/transcriptions${query}`, options);
  }

  /** Iterates over the transcriptions of recordings, the newest first, page by page. */
  all(options: ListTranscriptionsOptions = {}): AsyncGenerator<PostTranscription, void, undefined> {
    return itemsOfPages('/v1/transcriptions', options.cursor, async (cursor) => {
      const page = await this.list({ limit: LARGEST_PAGE, ...options, cursor });
      return { items: page.transcriptions, nextCursor: page.nextCursor };
    });
  }

  /**
   * GET /v1/transcriptions?q=…: returns a page of the segments that have all of the words, live and of recordings, the
   * latest stored first.
   */
  async search(words: string, options: SearchTranscriptionsOptions = {}): Promise<TranscriptHitList> {
    const { roomId, recordingId, language, since, until, limit, cursor } = options;
    const query = toQuery({ q: words, roomId, recordingId, language, since, until, limit, cursor });
    return await this.#transport.call('GET', `/v1/transcriptions${query}`, options);
  }

  /** Iterates over these segments, page by page. */
  searchAll(
    words: string,
    options: SearchTranscriptionsOptions = {},
  ): AsyncGenerator<TranscriptHit, void, undefined> {
    return itemsOfPages('/v1/transcriptions', options.cursor, async (cursor) => {
      const page = await this.search(words, { limit: LARGEST_PAGE, ...options, cursor });
      return { items: page.hits, nextCursor: page.nextCursor };
    });
  }

  /** GET /v1/transcriptions/:transcriptionId: a live transcription has the shape that its room returns. */
  async get(id: string, options?: CallOptions): Promise<PostTranscriptionDetail | LiveTranscription> {
    return await this.#transport.call('GET', transcriptionPath(id), options);
  }

  /** Returns the same transcript in a text format. */
  async text(id: string, format: TextFormat, options?: CallOptions): Promise<string> {
    return (await this.#transport.send('GET', transcriptionPath(id) + toQuery({ format }), options)).body;
  }

  /** PATCH /v1/transcriptions/:transcriptionId/speakers: sets names by track id or identity; null removes a name. */
  async nameSpeakers(
    id: string,
    participants: SpeakerUpdate['participants'],
    options?: CallOptions,
  ): Promise<void> {
    const path = `${transcriptionPath(id)}/speakers`;
    await this.#transport.send('PATCH', path, withBody({ participants }, options));
  }

  /** DELETE /v1/transcriptions/:transcriptionId: deletes the transcription with all its segments. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', transcriptionPath(id), options);
  }
}

/** Names and terms that are likely to be said in a room: `client.vocabulary`. */
export class Vocabulary {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** GET /v1/rooms/:roomId/vocabulary: returns an empty list when the room has none. */
  async get(room: string, options?: CallOptions): Promise<WireVocabulary> {
    return await this.#transport.call('GET', roomPath(room, 'vocabulary'), options);
  }

  /** PUT /v1/rooms/:roomId/vocabulary: replaces the vocabulary. Returns the terms as they are stored. */
  async set(room: string, terms: readonly string[], options?: CallOptions): Promise<WireVocabulary> {
    return await this.#transport.call('PUT', roomPath(room, 'vocabulary'), withBody({ terms }, options));
  }

  /** DELETE /v1/rooms/:roomId/vocabulary. */
  async delete(room: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'vocabulary'), options);
  }
}
