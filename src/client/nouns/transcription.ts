import type { TranscriptFormat } from '../../contract/choices.ts';
import type {
  LiveStart,
  LiveStarted,
  LiveStopped,
  LiveTranscription,
  PostTranscriptionDetail,
  Segment,
  SpeakerUpdate,
} from '../../contract/transcription.ts';
import type { CallOptions } from '../client-options.ts';
import { RtcError } from '../rtc-error.ts';
import { roomPath, timeoutOfWait, toQuery, transcriptionPath, withBody } from '../transport/request-parts.ts';
import { pause } from '../transport/retry.ts';
import { retryUntilResponse, type WaitDeps, type WaitOptions } from '../transport/retry-until-response.ts';
import type { Transport } from '../transport/transport.ts';

/** A transcript as plain text, WebVTT or SubRip. */
export type TextFormat = Exclude<TranscriptFormat, 'json'>;

/** The live transcription of a room, addressed by the room: `client.transcription`. */
export class Transcription {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** POST /v1/rooms/:roomId/transcription/start: starts a transcription, or returns the active one. */
  async start(room: string, start: LiveStart = {}, options?: CallOptions): Promise<LiveStarted> {
    const path = roomPath(room, 'transcription', 'start');
    return await this.#transport.call('POST', path, withBody(start, options));
  }

  /** POST /v1/rooms/:roomId/transcription/stop. */
  async stop(room: string, options?: CallOptions): Promise<LiveStopped> {
    return await this.#transport.call('POST', roomPath(room, 'transcription', 'stop'), options);
  }

  /** GET /v1/rooms/:roomId/transcription: returns the active transcription, or the last one. */
  async get(room: string, options: ReadTranscriptionOptions = {}): Promise<LiveTranscription> {
    const { since, cursor, wait } = options;
    const query = toQuery({ since, cursor, wait });
    return await this.#transport.call('GET', roomPath(room, 'transcription') + query, waiting(options));
  }

  /** Returns the same transcript in a text format. */
  async text(room: string, format: TextFormat, options: ReadTranscriptionOptions = {}): Promise<string> {
    const { since, cursor, wait } = options;
    const query = toQuery({ since, cursor, wait, format });
    return (await this.#transport.send('GET', roomPath(room, 'transcription') + query, waiting(options)))
      .body;
  }

  /** Iterates over the segments as they are stored, until the transcription is stopped; see FollowTranscriptionOptions. */
  follow(room: string, options: FollowTranscriptionOptions = {}): AsyncGenerator<Segment, void, undefined> {
    const ofRoom = (query: ReadTranscriptionOptions) => this.get(room, query);
    const ofId = (id: string, query: CallOptions): Promise<LiveTranscription> =>
      this.#transport.call('GET', transcriptionPath(id), query);
    return followTranscription({ ofRoom, ofId, ...this.#transport.waiting }, options);
  }

  /** PATCH /v1/rooms/:roomId/transcription/speakers: sets names by track id or identity; null removes a name. */
  async nameSpeakers(
    room: string,
    participants: SpeakerUpdate['participants'],
    options?: CallOptions,
  ): Promise<void> {
    const path = roomPath(room, 'transcription', 'speakers');
    await this.#transport.send('PATCH', path, withBody({ participants }, options));
  }
}

function waiting(options: ReadTranscriptionOptions): CallOptions {
  const timeoutMs = options.timeoutMs ?? timeoutOfWait(options.wait);
  return { ...options, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

/**
 * `since`: only segments that end after it (ISO 8601). `cursor`: only segments that were stored after the response with this
 * nextCursor, and then `wait`: maximum seconds to wait for one, at most 25.
 */
export type ReadTranscriptionOptions = CallOptions & {
  readonly since?: string | undefined;
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

/** Polling interval for a service of an earlier version, which has no `wait`. */
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
