import type { Health, Readiness, SelfCheckList } from '../contract/self-check.ts';
import type { CallOptions, RtcClientOptions, SendOptions, ServiceResponse } from './client-options.ts';
import { Audit, Keys } from './nouns/keys.ts';
import { Broadcasts, Ingress, Recordings, Sessions, Usage } from './nouns/recordings.ts';
import { Blocks, Participants, Plans, Rooms, Tokens } from './nouns/rooms.ts';
import { Transcription, Transcriptions, Vocabulary } from './nouns/transcriptions.ts';
import { Waiting } from './nouns/waiting.ts';
import { Deliveries, Events, Webhooks } from './nouns/webhooks.ts';
import { RtcError } from './rtc-error.ts';
import { readReadiness } from './transport/request-parts.ts';
import { Transport } from './transport/transport.ts';

/**
 * The service as a typed object, one member per noun and one method per endpoint. Every call is signed, has a time limit and
 * a maximum response size, and throws RtcError. GET and DELETE are repeated on 429 and 503, POST with the same Idempotency-Key
 * where that helps soon. The client runs on every runtime
 * with fetch and WebCrypto: Node from 20, Deno, Bun, workers. It must not be used in browsers, because it holds API_SECRET.
 *
 * ```ts
 * const client = new RtcClient({ url: 'http://127.0.0.1:3000', apiKey, apiSecret });
 * const { room } = await client.rooms.create({ name: 'demo' });
 * for await (const event of client.events.follow({ roomId: room.name })) console.log(event.event);
 * await client.close();
 * ```
 */
export class RtcClient {
  readonly rooms: Rooms;
  readonly participants: Participants;
  readonly blocks: Blocks;
  readonly plans: Plans;
  readonly waiting: Waiting;
  readonly tokens: Tokens;
  readonly recordings: Recordings;
  readonly broadcasts: Broadcasts;
  readonly sessions: Sessions;
  readonly usage: Usage;
  readonly ingress: Ingress;
  readonly transcription: Transcription;
  readonly transcriptions: Transcriptions;
  readonly vocabulary: Vocabulary;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly events: Events;
  readonly keys: Keys;
  readonly audit: Audit;
  readonly #transport: Transport;

  /** @throws TypeError for an address that is not an http(s) URL, and for a key that no header can contain */
  constructor(options: RtcClientOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.rooms = new Rooms(transport);
    this.participants = new Participants(transport);
    this.blocks = new Blocks(transport);
    this.plans = new Plans(transport);
    this.waiting = new Waiting(transport);
    this.tokens = new Tokens(transport);
    this.recordings = new Recordings(transport);
    this.broadcasts = new Broadcasts(transport);
    this.sessions = new Sessions(transport);
    this.usage = new Usage(transport);
    this.ingress = new Ingress(transport);
    this.transcription = new Transcription(transport);
    this.transcriptions = new Transcriptions(transport);
    this.vocabulary = new Vocabulary(transport);
    this.webhooks = new Webhooks(transport);
    this.deliveries = new Deliveries(transport);
    this.events = new Events(transport);
    this.keys = new Keys(transport);
    this.audit = new Audit(transport);
  }

  /** GET /v1/health, unsigned. */
  async health(options?: CallOptions): Promise<Health> {
    return await this.#transport.call('GET', '/v1/health', { ...options, signed: false });
  }

  /** GET /ready, unsigned: also resolves while the service is not ready. */
  async ready(options?: CallOptions): Promise<Readiness> {
    try {
      return await this.#transport.call('GET', '/ready', { ...options, signed: false, maxAttempts: 1 });
    } catch (error) {
      if (!(error instanceof RtcError) || error.status !== 503) throw error;
      return readReadiness(error);
    }
  }

  /** POST /v1/self-check: tests the services that this one depends on. The response has the problems that were found. */
  async checkSelf(options?: CallOptions): Promise<SelfCheckList> {
    return await this.#transport.call('POST', '/v1/self-check', options);
  }

  /** Sends any request, signed: `path` with its query is sent as given, `body` is JSON text. */
  async request(method: string, path: string, options?: SendOptions): Promise<ServiceResponse> {
    return await this.#transport.send(method, path, options);
  }

  /** Ends running calls; later calls fail. */
  async close(): Promise<void> {
    await this.#transport.close();
  }
}
