import type { Health, Readiness } from '../contract/health.ts';
import type { Ingress, IngressCreate, IngressList } from '../contract/ingress.ts';
import type { ParticipantList } from '../contract/participants.ts';
import type { RecordingStart, RecordingStatus, RecordingStop } from '../contract/recordings.ts';
import type { Room, RoomCreate, RoomList } from '../contract/rooms.ts';
import type { Token, TokenRequest } from '../contract/tokens.ts';
import { type Answer, parseAnswer } from './answer.ts';
import { RtcError } from './rtc-error.ts';
import { pathOf } from './service-url.ts';
import { type CallOptions, type RtcClientOptions, type SendOptions, Transport } from './transport.ts';

/** A room as created or found, with what the two headers of the answer say. */
export type RoomCreation = {
  readonly room: Room;
  /** The room was there already; only its metadata was updated. */
  readonly existed: boolean;
  /** Settings of the request that the existing room does not have and did not take. */
  readonly ignored: readonly string[];
};

export type ListRoomsOptions = CallOptions & { readonly limit?: number; readonly cursor?: string };

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
export class RtcClient {
  readonly #transport: Transport;

  /** @throws TypeError for an address that is no http(s) URL */
  constructor(options: RtcClientOptions) {
    this.#transport = new Transport(options);
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

  /** Any request, signed: `path` with its query goes out as given, `body` is JSON text. */
  async request(method: string, path: string, options?: SendOptions): Promise<Answer> {
    return this.#transport.send(method, path, options);
  }

  /** Closes the connections; calls that still run fail. */
  async close(): Promise<void> {
    await this.#transport.close();
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

function roomPath(room: string, ...rest: readonly string[]): string {
  return `/v1/rooms${pathOf(room, ...rest)}`;
}

function withBody(body: object, options: CallOptions | undefined): SendOptions {
  return { ...options, body: JSON.stringify(body) };
}

/** Query string with the values that are there, each percent-encoded; empty without any. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined);
  const encoded = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return encoded.length === 0 ? '' : `?${encoded.join('&')}`;
}

function splitList(header: string | undefined): readonly string[] {
  return (header ?? '').split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));
}

function readinessOf(error: RtcError): Readiness {
  try {
    const value: unknown = JSON.parse(error.body ?? '');
    if (typeof value === 'object' && value !== null && 'checks' in value) return value as Readiness;
  } catch {
    // A proxy's page: the original error says so.
  }
  throw error;
}
