import type { TranscriptFormat } from '../../contract/choices.ts';
import type {
  LiveStart,
  LiveStarted,
  LiveStopped,
  LiveTranscription,
  Segment,
  SpeakerUpdate,
} from '../../contract/transcription.ts';
import type { CallOptions } from '../client-options.ts';
import { queryOf, roomPath, timeoutOfWait, transcriptionPath, withBody } from '../transport/request-parts.ts';
import type { Transport } from '../transport/transport.ts';
import {
  type FollowTranscriptionOptions,
  followTranscription,
  type ReadTranscriptionOptions,
} from './follow-transcription.ts';

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
    const query = queryOf({ since, cursor, wait });
    return await this.#transport.call('GET', roomPath(room, 'transcription') + query, waiting(options));
  }

  /** Returns the same transcript in a text format. */
  async text(room: string, format: TextFormat, options: ReadTranscriptionOptions = {}): Promise<string> {
    const { since, cursor, wait } = options;
    const query = queryOf({ since, cursor, wait, format });
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
