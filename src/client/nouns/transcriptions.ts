import type { TranscriptFormat } from '../../contract/choices.ts';
import type {
  LiveListQuery,
  LiveStart,
  LiveStarted,
  LiveStopped,
  LiveSummary,
  LiveTranscription,
  LiveTranscriptionList,
  PostQueue,
  PostQueued,
  PostTranscription,
  PostTranscriptionDetail,
  PostTranscriptionList,
  Segment,
  SpeakerUpdate,
  TranscriptionListQuery,
  TranscriptSearchQuery,
} from '../../contract/transcription.ts';
import type { Vocabulary as WireVocabulary } from '../../contract/vocabulary.ts';
import type { TranscriptHit, TranscriptHitList } from '../../contract/words.ts';
import type { CallOptions, QueryOptions } from '../client-options.ts';
import { RtcError } from '../rtc-error.ts';
import { itemsOfPages, toPath, toQuery, withBody, withTimeLimit } from '../transport/request-parts.ts';
import { pause, retryUntilResponse, type WaitDeps, type WaitOptions } from '../transport/retry.ts';
import { Noun } from '../transport/transport.ts';

/** Page size at most 200; default 50. */
export type ListTranscriptionsOptions = QueryOptions<TranscriptionListQuery>;

/** Page size at most 200; default 50. `since` and `until` are ISO 8601. */
export type SearchTranscriptionsOptions = QueryOptions<Omit<TranscriptSearchQuery, 'q'>>;

/** Transcriptions of recordings, and any transcription by its id: `client.transcriptions`. */
export class Transcriptions extends Noun {
  /** POST /v1/recordings/:recordingId/transcribe: queues a transcription, or returns the existing one unless it failed. */
  async create(recordingId: string, queue: PostQueue = {}, options?: CallOptions): Promise<PostQueued> {
    const path = toPath('recordings', recordingId, 'transcribe');
    return await this.transport.call('POST', path, withBody(queue, options));
  }

  /** GET /v1/transcriptions: returns a page of the transcriptions of recordings, the newest first. */
  async list(options: ListTranscriptionsOptions = {}): Promise<PostTranscriptionList> {
    const { roomId, recordingId, status, limit, cursor } = options;
    const query = toQuery({ roomId, recordingId, status, limit, cursor });
    return await this.transport.call('GET', `/v1/transcriptions${query}`, options);
  }

  /** Iterates over the transcriptions of recordings, the newest first, page by page. */
  all(options: ListTranscriptionsOptions = {}): AsyncGenerator<PostTranscription, void, undefined> {
    return itemsOfPages({ path: '/v1/transcriptions', items: 'transcriptions' }, options, (page) =>
      this.list(page),
    );
  }

  /**
   * GET /v1/transcriptions/search: returns a page of the segments that have all of the words, live and of recordings, the
   * latest stored first.
   */
  async search(words: string, options: SearchTranscriptionsOptions = {}): Promise<TranscriptHitList> {
    const { roomId, recordingId, language, since, until, limit, cursor } = options;
    const query = toQuery({ q: words, roomId, recordingId, language, since, until, limit, cursor });
    return await this.transport.call('GET', `/v1/transcriptions/search${query}`, options);
  }

  /** Iterates over these segments, page by page. */
  searchAll(
    words: string,
    options: SearchTranscriptionsOptions = {},
  ): AsyncGenerator<TranscriptHit, void, undefined> {
    return itemsOfPages({ path: '/v1/transcriptions/search', items: 'hits' }, options, (page) =>
      this.search(words, page),
    );
  }

  /**
   * GET /v1/transcriptions/:transcriptionId: returns a page of its segments; without `limit` all, at most 10,000. A live
   * transcription has the shape that its room returns.
   */
  async get(
    id: string,
    options: GetTranscriptionOptions = {},
  ): Promise<PostTranscriptionDetail | LiveTranscription> {
    const query = toQuery({ limit: options.limit, cursor: options.cursor });
    return await this.transport.call('GET', toPath('transcriptions', id) + query, options);
  }

  /** Iterates over the segments, page by page: of a recording by their start, of a room as they were stored. */
  async *segments(
    id: string,
    options: GetTranscriptionOptions = {},
  ): AsyncGenerator<Segment, void, undefined> {
    let { cursor } = options;
    for (;;) {
      const page = await this.get(id, { limit: LARGEST_PAGE_OF_SEGMENTS, ...options, cursor });
      yield* page.segments;
      const next: string | null = page.nextCursor;
      if (next === null || next === cursor || !page.segments.some(({ final }) => final)) return;
      cursor = next;
    }
  }

  /** Returns the whole transcript in a text format. */
  async text(id: string, format: TextFormat, options?: CallOptions): Promise<string> {
    return await readText(format, (cursor) =>
      this.transport.send('GET', toPath('transcriptions', id) + toQuery({ format, cursor }), options),
    );
  }

  /** PATCH /v1/transcriptions/:transcriptionId/speakers: sets names by track id or identity; null removes a name. */
  async nameSpeakers(
    id: string,
    participants: SpeakerUpdate['participants'],
    options?: CallOptions,
  ): Promise<void> {
    const path = toPath('transcriptions', id, 'speakers');
    await this.transport.send('PATCH', path, withBody({ participants }, options));
  }

  /** DELETE /v1/transcriptions/:transcriptionId: deletes the transcription with all its segments. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('transcriptions', id), options);
  }
}

/** Page size at most 1,000. */
export type GetTranscriptionOptions = CallOptions & {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

const LARGEST_PAGE_OF_SEGMENTS = 1_000;

type TextPage = { readonly body: string; readonly headers: Readonly<Record<string, string | undefined>> };

/** Reads a transcript of more segments than one response has, and joins its parts as one document. */
async function readText(
  format: TextFormat,
  read: (cursor: string | undefined) => Promise<TextPage>,
): Promise<string> {
  const parts: string[] = [];
  let cursor: string | undefined;
  for (;;) {
    const { body, headers } = await read(cursor);
    parts.push(body);
    const next = headers['x-next-cursor'];
    if (next === undefined || next === cursor) return joinParts(format, parts);
    cursor = next;
  }
}

const VTT_HEAD = 'WEBVTT\n';

function joinParts(format: TextFormat, parts: readonly string[]): string {
  const [first = '', ...others] = parts;
  if (others.length === 0 || format === 'text') return parts.join('');
  if (format === 'vtt') return [first, ...others.map((part) => part.slice(VTT_HEAD.length))].join('');
  if (format === 'md') return parts.join('\n');
  let cue = 0;
  return parts.join('\n').replaceAll(/^\d+(?=\n\d{2,}:\d{2}:\d{2},\d{3} --> )/gm, () => {
    cue += 1;
    return `${cue}`;
  });
}

/** Names and terms that are likely to be said in a room: `client.vocabulary`. */
export class Vocabulary extends Noun {
  /** GET /v1/rooms/:roomId/vocabulary: returns an empty list when the room has none. */
  async get(room: string, options?: CallOptions): Promise<WireVocabulary> {
    return await this.transport.call('GET', toPath('rooms', room, 'vocabulary'), options);
  }

  /** PUT /v1/rooms/:roomId/vocabulary: replaces the vocabulary. Returns the terms as they are stored. */
  async set(room: string, terms: readonly string[], options?: CallOptions): Promise<WireVocabulary> {
    const path = toPath('rooms', room, 'vocabulary');
    return await this.transport.call('PUT', path, withBody({ terms }, options));
  }

  /** DELETE /v1/rooms/:roomId/vocabulary. */
  async delete(room: string, options?: CallOptions): Promise<void> {
    await this.transport.send('DELETE', toPath('rooms', room, 'vocabulary'), options);
  }
}

/** A transcript as plain text, WebVTT or SubRip. */
export type TextFormat = Exclude<TranscriptFormat, 'json'>;

/** Page size at most 200; default 50. */
export type ListLiveOptions = QueryOptions<LiveListQuery>;

/** The live transcription of a room, addressed by the room: `client.transcription`. */
export class Transcription extends Noun {
  /** POST /v1/rooms/:roomId/transcription/start: starts a transcription, or returns the active one. */
  async start(room: string, start: LiveStart = {}, options?: CallOptions): Promise<LiveStarted> {
    const path = toPath('rooms', room, 'transcription', 'start');
    return await this.transport.call('POST', path, withBody(start, options));
  }

  /** GET /v1/transcriptions/live: returns a page of the live transcriptions of all rooms, the newest first. */
  async list(options: ListLiveOptions = {}): Promise<LiveTranscriptionList> {
    const { roomId, status, limit, cursor } = options;
    const query = toQuery({ roomId, status, limit, cursor });
    return await this.transport.call('GET', `/v1/transcriptions/live${query}`, options);
  }

  /** Iterates over the live transcriptions of all rooms, the newest first, page by page. */
  all(options: ListLiveOptions = {}): AsyncGenerator<LiveSummary, void, undefined> {
    return itemsOfPages({ path: '/v1/transcriptions/live', items: 'transcriptions' }, options, (page) =>
      this.list(page),
    );
  }

  /** POST /v1/rooms/:roomId/transcription/stop. */
  async stop(room: string, options?: CallOptions): Promise<LiveStopped> {
    return await this.transport.call('POST', toPath('rooms', room, 'transcription', 'stop'), options);
  }

  /** GET /v1/rooms/:roomId/transcription: returns the active transcription, or the last one. */
  async get(room: string, options: ReadTranscriptionOptions = {}): Promise<LiveTranscription> {
    const { since, limit, cursor, wait } = options;
    const path = toPath('rooms', room, 'transcription') + toQuery({ since, limit, cursor, wait });
    return await this.transport.call('GET', path, withTimeLimit(options));
  }

  /** Returns the transcript so far in a text format; with `limit` a part of it. */
  async text(room: string, format: TextFormat, options: ReadTranscriptionOptions = {}): Promise<string> {
    const { since, limit, cursor: start, wait } = options;
    const read = (cursor: string | undefined) => {
      const path = toPath('rooms', room, 'transcription') + toQuery({ since, limit, cursor, wait, format });
      return this.transport.send('GET', path, withTimeLimit(options));
    };
    if (limit !== undefined || start !== undefined) return (await read(start)).body;
    return await readText(format, read);
  }

  /** Iterates over the segments as they are stored, until the transcription is stopped; see FollowTranscriptionOptions. */
  follow(room: string, options: FollowTranscriptionOptions = {}): AsyncGenerator<Segment, void, undefined> {
    const ofRoom = (query: ReadTranscriptionOptions) => this.get(room, query);
    const ofId = (id: string, query: CallOptions): Promise<LiveTranscription> =>
      this.transport.call('GET', toPath('transcriptions', id), query);
    return followTranscription({ ofRoom, ofId, ...this.transport.waiting }, options);
  }

  /** PATCH /v1/rooms/:roomId/transcription/speakers: sets names by track id or identity; null removes a name. */
  async nameSpeakers(
    room: string,
    participants: SpeakerUpdate['participants'],
    options?: CallOptions,
  ): Promise<void> {
    const path = toPath('rooms', room, 'transcription', 'speakers');
    await this.transport.send('PATCH', path, withBody({ participants }, options));
  }
}

/**
 * `since`: only segments that end after it (ISO 8601). `cursor`: only segments that were stored after the response with this
 * nextCursor, and then `wait`: maximum seconds to wait for one, at most 25.
 */
export type ReadTranscriptionOptions = CallOptions & {
  readonly since?: string | undefined;
  /** Maximum segments, at most 1,000; without it, at most 10,000. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly wait?: number | undefined;
};

export type FollowTranscriptionOptions = WaitOptions & {
  /** Only segments that end after it (ISO 8601); default all. */
  readonly since?: string | undefined;
  /** Called with the transcription after the first response. */
  readonly onStart?: ((transcription: LiveTranscription) => void) | undefined;
  /** Called with the transcription when it was stopped or has failed. */
  readonly onEnd?: ((transcription: EndedTranscription) => void) | undefined;
};

type EndedTranscription = Pick<LiveTranscription | PostTranscriptionDetail, 'status' | 'error'>;

type FollowTranscriptionDeps = WaitDeps & {
  readonly ofRoom: (query: ReadTranscriptionOptions) => Promise<LiveTranscription>;
  readonly ofId: (id: string, query: CallOptions) => Promise<LiveTranscription | PostTranscriptionDetail>;
};

const WAIT_SECONDS = 25;

/** Polling interval for a service of an earlier version, whose requests cannot wait. */
const POLL_MS = 500;

/** Segments are stored in the order of their recognition: a long one may be stored after a short one that ended later. */
const OVERLAP_MS = 120_000;

/**
 * Iterates over the segments of a room's transcription in the order in which they are stored, until it is stopped; a stopped
 * one is returned at once. The first call must succeed. Later the iteration waits for an unavailable service, and misses
 * nothing.
 */
async function* followTranscription(
  deps: FollowTranscriptionDeps,
  options: FollowTranscriptionOptions,
): AsyncGenerator<Segment, void, undefined> {
  const call = options.signal === undefined ? {} : { signal: options.signal };
  const yielded = new Set<string>();
  const newOnes = (segments: readonly Segment[]): readonly Segment[] =>
    segments.filter(({ id, endedAt, final }) => {
      const isNew =
        final !== false &&
        !yielded.has(id) &&
        (options.since === undefined || Date.parse(endedAt) > Date.parse(options.since));
      if (isNew) yielded.add(id);
      return isNew;
    });
  let response = await deps.ofRoom({ ...call, since: options.since });
  const { transcriptionId } = response;
  options.onStart?.(response);
  let latest = 0;
  for (;;) {
    yield* newOnes(response.segments);
    if (response.status !== 'active') return options.onEnd?.(response);
    latest = Math.max(latest, ...response.segments.map(({ endedAt }) => Date.parse(endedAt)));
    const { nextCursor: cursor }: { readonly nextCursor?: string } = response;
    const overlapping = latest === 0 ? options.since : new Date(latest - OVERLAP_MS).toISOString();
    const next =
      cursor === undefined ? { since: overlapping } : { since: options.since, cursor, wait: WAIT_SECONDS };
    if (cursor === undefined) await wait(deps, options.signal);
    response = await retryUntilResponse(deps, options, () => readOnce(deps, { ...call, ...next }));
    if (response.transcriptionId === transcriptionId) continue;
    // The transcription was stopped, and another one was started since.
    const last = await retryUntilResponse(deps, options, () => deps.ofId(transcriptionId, call));
    yield* newOnes(last.segments);
    return options.onEnd?.(last);
  }
}

/**
 * A service that shuts down, or a proxy, may end a wait at once without segments. The next request is then sent a little
 * later.
 */
async function readOnce(
  deps: FollowTranscriptionDeps,
  query: ReadTranscriptionOptions,
): Promise<LiveTranscription> {
  const startedAt = performance.now();
  const response = await deps.ofRoom(query);
  const isEmpty = response.status === 'active' && !response.segments.some(({ final }) => final !== false);
  const isShort = query.wait !== undefined && isEmpty && performance.now() - startedAt < POLL_MS;
  if (isShort) await wait(deps, query.signal);
  return response;
}

async function wait(deps: WaitDeps, signal: AbortSignal | undefined): Promise<void> {
  try {
    await (deps.pause ?? pause)(POLL_MS, signal);
  } catch (cause) {
    const about = { method: 'GET', path: '/v1/rooms/:roomId/transcription' };
    throw new RtcError({ ...about, code: 'aborted', detail: 'the call was cancelled', cause });
  }
}
