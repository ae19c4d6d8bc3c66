import type { PostStatus, TranscriptFormat } from '../contract/choices.ts';
import type {
  LiveStart,
  LiveStarted,
  LiveStopped,
  LiveTranscription,
  PostQueue,
  PostQueued,
  PostTranscriptionDetail,
  PostTranscriptionList,
  Segment,
  SpeakerUpdate,
} from '../contract/transcription.ts';
import { Calls } from './calls.ts';
import type { CallOptions } from './client-options.ts';
import { type FollowTranscriptionOptions, followTranscription } from './follow-transcription.ts';
import { queryOf, recordingPath, roomPath, transcriptionPath, withBody } from './request-parts.ts';

export type ListTranscriptionsOptions = CallOptions & {
  readonly roomId?: string | undefined;
  readonly recordingId?: string | undefined;
  readonly status?: PostStatus | undefined;
  /** Page size, at most 200; default 50. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

/** `since`: only segments that end after it (ISO 8601). */
export type ReadTranscriptionOptions = CallOptions & { readonly since?: string | undefined };

/** A transcript as text. */
export type TextFormat = Exclude<TranscriptFormat, 'json'>;

/** The part of RtcClient that is about speech to text. */
export abstract class TranscriptionCalls extends Calls {
  /** POST /v1/rooms/:roomId/transcription/start; the active one is answered again. */
  async startTranscription(room: string, start: LiveStart = {}, options?: CallOptions): Promise<LiveStarted> {
    return this.call('POST', roomPath(room, 'transcription', 'start'), withBody(start, options));
  }

  /** POST /v1/rooms/:roomId/transcription/stop. */
  async stopTranscription(room: string, options?: CallOptions): Promise<LiveStopped> {
    return this.call('POST', roomPath(room, 'transcription', 'stop'), options);
  }

  /** GET /v1/rooms/:roomId/transcription: the active one, or the last. */
  async getRoomTranscription(
    room: string,
    options: ReadTranscriptionOptions = {},
  ): Promise<LiveTranscription> {
    return this.call('GET', roomPath(room, 'transcription') + queryOf({ since: options.since }), options);
  }

  /** The same as text, WebVTT or SubRip. */
  async getRoomTranscript(
    room: string,
    format: TextFormat,
    options: ReadTranscriptionOptions = {},
  ): Promise<string> {
    const query = queryOf({ since: options.since, format });
    return (await this.send('GET', roomPath(room, 'transcription') + query, options)).body;
  }

  /** Each segment as it is stored, until the transcription is stopped; see FollowTranscriptionOptions. */
  followTranscription(
    room: string,
    options: FollowTranscriptionOptions = {},
  ): AsyncGenerator<Segment, void, undefined> {
    const ofRoom = (query: ReadTranscriptionOptions) => this.getRoomTranscription(room, query);
    const ofId = (id: string, query: CallOptions) => this.getTranscription(id, query);
    return followTranscription({ ofRoom, ofId, ...this.waiting }, options);
  }

  /** PATCH /v1/rooms/:roomId/transcription/speakers; null removes a name. */
  async nameSpeakers(
    room: string,
    participants: SpeakerUpdate['participants'],
    options?: CallOptions,
  ): Promise<void> {
    const path = roomPath(room, 'transcription', 'speakers');
    await this.send('PATCH', path, withBody({ participants }, options));
  }

  /** POST /v1/recordings/:recordingId/transcribe; the one that exists is answered again, unless it failed. */
  async createTranscription(
    recordingId: string,
    queue: PostQueue = {},
    options?: CallOptions,
  ): Promise<PostQueued> {
    const path = recordingPath(recordingId, 'transcribe');
    return this.call('POST', path, withBody(queue, options));
  }

  /** GET /v1/transcriptions: those of recordings, newest first. */
  async listTranscriptions(options: ListTranscriptionsOptions = {}): Promise<PostTranscriptionList> {
    const { roomId, recordingId, status, limit, cursor } = options;
    const query = queryOf({ roomId, recordingId, status, limit, cursor });
    return this.call('GET', `/v1/transcriptions${query}`, options);
  }

  /** GET /v1/transcriptions/:transcriptionId; a live one is answered as its room answers it. */
  async getTranscription(
    id: string,
    options?: CallOptions,
  ): Promise<PostTranscriptionDetail | LiveTranscription> {
    return this.call('GET', transcriptionPath(id), options);
  }

  /** The same as text, WebVTT or SubRip. */
  async getTranscript(id: string, format: TextFormat, options?: CallOptions): Promise<string> {
    return (await this.send('GET', transcriptionPath(id) + queryOf({ format }), options)).body;
  }

  /** DELETE /v1/transcriptions/:transcriptionId: with all its segments. */
  async deleteTranscription(id: string, options?: CallOptions): Promise<void> {
    await this.send('DELETE', transcriptionPath(id), options);
  }
}
