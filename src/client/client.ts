import type { Event, EventList } from '../contract/events.ts';
import type { Health, Readiness } from '../contract/health.ts';
import type { Ingress, IngressCreate, IngressList } from '../contract/ingress.ts';
import type { ParticipantList } from '../contract/participants.ts';
import type {
  Recording,
  RecordingList,
  RecordingStart,
  RecordingStatus,
  RecordingStop,
} from '../contract/recordings.ts';
import type { Room, RoomCreate, RoomList } from '../contract/rooms.ts';
import type { SelfCheckList } from '../contract/self-check.ts';
import type { Token, TokenRequest } from '../contract/tokens.ts';
import { parseAnswer } from './answer.ts';
import type {
  Download,
  DownloadOptions,
  ListRecordingsOptions,
  ListRoomsOptions,
  RoomCreation,
} from './call-options.ts';
import type { Answer, CallOptions, RtcClientOptions, SendOptions } from './client-options.ts';
import { download } from './download.ts';
import { type FollowEventsOptions, followEvents, type ListEventsOptions } from './follow-events.ts';
import {
  patienceFor,
  queryOf,
  readinessOf,
  recordingPath,
  roomPath,
  splitList,
  withBody,
} from './request-parts.ts';
import { RtcError } from './rtc-error.ts';
import { Transport } from './transport.ts';
import type { WaitDeps } from './until-answered.ts';
import { WebhookCalls } from './webhook-calls.ts';

/**
 * The service as a typed object, one method per endpoint. Every call is signed, timed, bounded and throws RtcError;
 * GET and DELETE are repeated on 429 and 503. Not for browsers: it holds API_SECRET.
 *
 * ```ts
 * const client = new RtcClient({ url: 'http://127.0.0.1:3000', apiKey, apiSecret });
 * const { rooms } = await client.listRooms();
 * await client.close();
 * ```
 */
export class RtcClient extends WebhookCalls {
  readonly #transport: Transport;
  readonly #options: RtcClientOptions;

  /** @throws TypeError for an address that is no http(s) URL, and for a key that no header can carry */
  constructor(options: RtcClientOptions) {
    super();
    this.#transport = new Transport(options);
    this.#options = options;
  }

  /** GET /v1/health, unsigned. */
  async health(options?: CallOptions): Promise<Health> {
    return this.#call('GET', '/v1/health', { ...options, signed: false });
  }

  /** GET /ready, unsigned: also answers while the service is not ready. */
  async ready(options?: CallOptions): Promise<Readiness> {
    try {
      return await this.#call('GET', '/ready', { ...options, signed: false, maxAttempts: 1 });
    } catch (error) {
      if (!(error instanceof RtcError) || error.status !== 503) throw error;
      return readinessOf(error);
    }
  }

  /** POST /v1/self-check: tries what stands behind the service; a fault is an answer. */
  async checkSelf(options?: CallOptions): Promise<SelfCheckList> {
    return this.#call('POST', '/v1/self-check', options);
  }

  /** POST /v1/token. */
  async createToken(request: TokenRequest, options?: CallOptions): Promise<Token> {
    return this.#call('POST', '/v1/token', withBody(request, options));
  }

  /** POST /v1/token/refresh: answers like createToken. */
  async refreshToken(request: TokenRequest, options?: CallOptions): Promise<Token> {
    return this.#call('POST', '/v1/token/refresh', withBody(request, options));
  }

  /** POST /v1/rooms; a room that exists is answered too, see RoomCreation. */
  async createRoom(room: RoomCreate, options?: CallOptions): Promise<RoomCreation> {
    const answer = await this.#transport.send('POST', '/v1/rooms', withBody(room, options));
    return {
      room: this.#parse('POST', '/v1/rooms', answer),
      existed: answer.headers['x-room-existed'] === 'true',
      ignored: splitList(answer.headers['x-room-ignored']),
    };
  }

  /** GET /v1/rooms: all of them, or a page with `limit`. */
  async listRooms(options: ListRoomsOptions = {}): Promise<RoomList> {
    const query = queryOf({ limit: options.limit, cursor: options.cursor });
    return this.#call('GET', `/v1/rooms${query}`, options);
  }

  /** GET /v1/rooms/:roomId. */
  async getRoom(room: string, options?: CallOptions): Promise<Room> {
    return this.#call('GET', roomPath(room), options);
  }

  /** DELETE /v1/rooms/:roomId: disconnects everybody. */
  async deleteRoom(room: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room), options);
  }

  /** GET /v1/rooms/:roomId/participants. */
  async listParticipants(room: string, options?: CallOptions): Promise<ParticipantList> {
    return this.#call('GET', roomPath(room, 'participants'), options);
  }

  /** DELETE /v1/rooms/:roomId/participants/:participantId. */
  async removeParticipant(room: string, identity: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'participants', identity), options);
  }

  /** POST /v1/rooms/:roomId/participants/:participantId/mute. */
  async muteTrack(
    target: { readonly room: string; readonly identity: string; readonly trackSid: string },
    options?: CallOptions,
  ): Promise<void> {
    const path = roomPath(target.room, 'participants', target.identity, 'mute');
    await this.#transport.send('POST', path, withBody({ trackSid: target.trackSid }, options));
  }

  /** POST /v1/rooms/:roomId/recording/start. */
  async startRecording(room: string, options?: CallOptions): Promise<RecordingStart> {
    return this.#call('POST', roomPath(room, 'recording', 'start'), options);
  }

  /** POST /v1/rooms/:roomId/recording/stop. */
  async stopRecording(room: string, options?: CallOptions): Promise<RecordingStop> {
    return this.#call('POST', roomPath(room, 'recording', 'stop'), options);
  }

  /** GET /v1/rooms/:roomId/recording. */
  async recordingStatus(room: string, options?: CallOptions): Promise<RecordingStatus> {
    return this.#call('GET', roomPath(room, 'recording'), options);
  }

  /** GET /v1/recordings, newest first. */
  async listRecordings(options: ListRecordingsOptions = {}): Promise<RecordingList> {
    const { roomId, status, limit, cursor } = options;
    return this.#call('GET', `/v1/recordings${queryOf({ roomId, status, limit, cursor })}`, options);
  }

  /** GET /v1/recordings/:recordingId. */
  async getRecording(id: string, options?: CallOptions): Promise<Recording> {
    return this.#call('GET', recordingPath(id), options);
  }

  /** GET /v1/recordings/:recordingId/download: the bytes, from the service or from the bucket that it names. */
  async downloadRecording(id: string, options?: DownloadOptions): Promise<Download> {
    return download(this.#transport, recordingPath(id, 'download'), options);
  }

  /** DELETE /v1/recordings/:recordingId: the file and the record. */
  async deleteRecording(id: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', recordingPath(id), options);
  }

  /** POST /v1/rooms/:roomId/ingress; the room need not exist yet. */
  async createIngress(room: string, ingress: IngressCreate, options?: CallOptions): Promise<Ingress> {
    return this.#call('POST', roomPath(room, 'ingress'), withBody(ingress, options));
  }

  /** GET /v1/rooms/:roomId/ingress. */
  async listIngress(room: string, options?: CallOptions): Promise<IngressList> {
    return this.#call('GET', roomPath(room, 'ingress'), options);
  }

  /** DELETE /v1/rooms/:roomId/ingress/:ingressId. */
  async deleteIngress(room: string, ingressId: string, options?: CallOptions): Promise<void> {
    await this.#transport.send('DELETE', roomPath(room, 'ingress', ingressId), options);
  }

  /** GET /v1/events, oldest first; go on by nextCursor. */
  async listEvents(options: ListEventsOptions = {}): Promise<EventList> {
    const { cursor, since, room, types, limit, wait } = options;
    const query = queryOf({ cursor, since, room, types: types?.join(','), limit, wait });
    const timeoutMs = options.timeoutMs ?? patienceFor(wait);
    return this.#call('GET', `/v1/events${query}`, {
      ...options,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  /** Each event as it comes, through restarts of the service, losing none; see FollowEventsOptions. */
  followEvents(options: FollowEventsOptions = {}): AsyncGenerator<Event, void, undefined> {
    return followEvents({ list: (query) => this.listEvents(query), ...this.waiting }, options);
  }

  /** Any request, signed: `path` with its query goes out as given, `body` is JSON text. */
  async request(method: string, path: string, options?: SendOptions): Promise<Answer> {
    return this.#transport.send(method, path, options);
  }

  /** Closes the connections; calls that still run fail. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  protected override get waiting(): WaitDeps {
    const { pause, random } = this.#options;
    return { pause, random };
  }

  protected override call<T>(method: string, path: string, options?: SendOptions): Promise<T> {
    return this.#call(method, path, options);
  }

  protected override send(method: string, path: string, options?: SendOptions): Promise<Answer> {
    return this.#transport.send(method, path, options);
  }

  async #call<T>(method: string, path: string, options?: SendOptions): Promise<T> {
    return this.#parse(method, path, await this.#transport.send(method, path, options));
  }

  /** The service's schemas shape its answers; the client trusts a signed-in service, not a proxy's page. */
  #parse<T>(method: string, path: string, answer: Answer): T {
    const value = parseAnswer(answer, { method, path });
    if (typeof value === 'object' && value !== null) return value as T;
    throw new RtcError({
      method,
      path,
      code: 'unexpected-answer',
      status: answer.status,
      requestId: answer.headers['x-request-id'],
      detail: `something other than the service answered ${answer.status} without a JSON object`,
    });
  }
}
