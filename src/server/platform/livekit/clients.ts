import { STATUS_CODES } from 'node:http';
import {
  type AgentDispatch,
  ListAgentDispatchRequest,
  ListAgentDispatchResponse,
  ListParticipantsRequest,
  ListRoomsRequest,
  ListRoomsResponse,
  RemoveParticipantResponse,
  RoomParticipantIdentity,
} from '@livekit/protocol';
import {
  AgentDispatchClient,
  EgressClient,
  IngressClient,
  ParticipantInfo,
  RoomServiceClient,
  ServerError,
  type VideoGrant,
} from 'livekit-server-sdk';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { acceptContinue } from '../../../contract/http-responses.ts';
import type { Room } from '../../../contract/rooms.ts';
import { parseJson } from '../../../contract/unknown-value.ts';
import type { MediaClock } from './media-clock.ts';
import type { ParticipantEntry } from './media-server.ts';
import { entriesFrom, entriesFromJson, readEntries, toRoom } from './records.ts';
import { RoomListReader } from './room-list-reader.ts';
import { CLOCK_TOLERANCE_SECONDS, createJwtSigner } from './token-signer.ts';

/** Timeouts of calls, in milliseconds. */
export type Timeouts = {
  readonly callMs: number;
  /** StartRoomComposite: the media server itself looks for a recorder for up to 24 s. */
  readonly startMs: number;
};

type ClientSettings = {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly timeouts: Timeouts;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** It is called with the time of day that each response has. */
  readonly mediaClock?: Pick<MediaClock, 'observeResponse'> | undefined;
};

/** The calls that are made for every room or block, or return all rooms. */
type FrequentCalls = {
  /**
   * Lists the rooms with these names; all rooms for an empty list of names. The caller must not change them: later lists
   * contain them too.
   */
  readonly listRooms: (names: readonly string[]) => Promise<readonly Room[]>;
  /** Lists everyone in the room; the records are decoded when they are read. */
  readonly listParticipants: (room: string) => Promise<readonly ParticipantEntry[]>;
  readonly getParticipant: (room: string, identity: string) => Promise<ParticipantInfo>;
  readonly removeParticipant: (room: string, identity: string) => Promise<void>;
  readonly listDispatch: (room: string) => Promise<AgentDispatch[]>;
};

export type LivekitClients = FrequentCalls & {
  /** Its methods with the names of the frequent calls are slower. */
  readonly rooms: RoomServiceClient;
  readonly egress: EgressClient;
  /** The same API with the longer timeout of a start. */
  readonly egressStart: EgressClient;
  readonly ingress: IngressClient;
  readonly close: () => Promise<void>;
};

const TOKEN_LIFETIME_SECONDS = 600;

/** Half of the lifetime remains for clocks that differ and for slow calls. */
const TOKEN_REUSE_MS = (TOKEN_LIFETIME_SECONDS * 1000) / 2;

/**
 * The SDK's clients sign a new token for every call, which is a large part of the cost of a short call. Here a token that is
 * not for one room is signed once in five minutes.
 */
export function createClients(settings: ClientSettings): LivekitClients {
  const authorize = createAuthorization(settings);
  const url = toHttpUrl(settings.url);
  const credentials = [url, settings.apiKey, settings.apiSecret] as const;
  const options = { requestTimeout: requestTimeoutSeconds(settings.timeouts.callMs) };
  const startOptions = { requestTimeout: requestTimeoutSeconds(settings.timeouts.startMs) };
  const { close, ...byTwirp } = createTwirpClient(
    { ...settings, url, timeoutMs: settings.timeouts.callMs },
    authorize,
  );
  const authorized = <Client extends object>(client: Client): Client =>
    Object.assign(client, { authHeader: authorize });
  const rooms = authorized(new RoomServiceClient(...credentials, options));
  const dispatch = authorized(new AgentDispatchClient(...credentials, options));
  return {
    rooms,
    // In LiveKit's cloud, the SDK tries another region when one fails.
    ...(isCloud(url) ? callBySdk(rooms, dispatch) : byTwirp),
    egress: authorized(new EgressClient(...credentials, options)),
    egressStart: authorized(new EgressClient(...credentials, startOptions)),
    ingress: authorized(new IngressClient(...credentials, options)),
    close,
  };
}

function callBySdk(rooms: RoomServiceClient, dispatch: AgentDispatchClient): FrequentCalls {
  return {
    listRooms: async (names) => (await rooms.listRooms([...names])).map(toRoom),
    listParticipants: async (room) => entriesFrom(await rooms.listParticipants(room)),
    getParticipant: (room, identity) => rooms.getParticipant(room, identity),
    removeParticipant: (room, identity) => rooms.removeParticipant(room, identity),
    listDispatch: (room) => dispatch.listDispatch(room),
  };
}

/** The API is HTTP on the address that clients use for WebSockets. */
export function toHttpUrl(url: string): string {
  return url.replace(/^ws/i, 'http');
}

/** Returns whether the URL is LiveKit's cloud, by the SDK's own criterion. */
function isCloud(url: string): boolean {
  return new URL(url).hostname.endsWith('.livekit.cloud');
}

type AuthHeader = Record<string, string>;

type Authorize = (grant: VideoGrant) => Promise<AuthHeader>;

function createAuthorization({ apiKey, apiSecret, now }: ClientSettings): Authorize {
  const signJwt = createJwtSigner(apiSecret);
  const kept = new Map<string, { readonly header: AuthHeader; readonly signedAt: number }>();
  const sign = (video: VideoGrant, at: number): AuthHeader => {
    const issuedAt = Math.floor(at / 1000);
    const nbf = issuedAt - CLOCK_TOLERANCE_SECONDS;
    const token = signJwt({ iss: apiKey, nbf, exp: issuedAt + TOKEN_LIFETIME_SECONDS, video });
    return { Authorization: `Bearer ${token}` };
  };
  return async (grant) => {
    const at = now();
    // A cached token for every room would take unlimited memory.
    if (grant.room !== undefined) return sign(grant, at);
    const key = Object.keys(grant).join();
    const found = kept.get(key);
    // If the clock was set back since, the token is not valid yet, and the media server rejects it.
    const isFresh = found !== undefined && at >= found.signedAt && at < found.signedAt + TOKEN_REUSE_MS;
    if (isFresh) return found.header;
    const header = sign(grant, at);
    kept.set(key, { header, signedAt: at });
    return header;
  };
}

/**
 * The SDK multiplies the seconds by 1000 for AbortSignal.timeout, which accepts only whole numbers: 1.1 * 1000 is
 * 1100.0000000000002 and throws. This returns the next longer duration whose product is whole.
 */
function requestTimeoutSeconds(durationMs: number): number {
  let wholeMs = Math.ceil(durationMs);
  while (!Number.isInteger((wholeMs / 1000) * 1000)) wholeMs += 1;
  return wholeMs / 1000;
}

/*
 * The frequent calls in protobuf, the other encoding of Twirp
 * (https://twitchtv.github.io/twirp/docs/spec_v7.html). The SDK uses JSON, which takes the media server three times as long
 * to write and us twice as long to read. It also uses fetch, which needs four times the processor time of undici's own
 * requests.
 */

type TwirpClientSettings = {
  /** Address of the media server's API, http or https; the path is ignored. */
  readonly url: string;
  readonly timeoutMs: number;
  readonly mediaClock?: Pick<MediaClock, 'observeResponse'> | undefined;
};

/** Opens the connections, and returns how to make a call and how to end them. */
function openConnections({ url, timeoutMs, mediaClock }: TwirpClientSettings, authorize: Authorize) {
  const pool = new Pool(new URL(url).origin, {
    // The signal limits the whole call.
    headersTimeout: 0,
    bodyTimeout: 0,
    // With HTTP/2 all requests would share one connection.
    connect: acceptContinue(buildConnector({ timeout: timeoutMs, allowH2: false })),
  });
  const call = async <T>(grant: VideoGrant, { method, body, type }: TwirpCall<T>): Promise<T> => {
    const authorization = await authorize(grant);
    const sentAt = performance.now();
    const response = await pool.request({
      method: 'POST',
      path: `/twirp/livekit.${method}`,
      headers: { 'content-type': PROTOBUF, 'user-agent': 'rtc-service', ...authorization },
      body,
      signal: AbortSignal.timeout(Math.ceil(timeoutMs)),
    });
    mediaClock?.observeResponse(response.headers.date, sentAt);
    if (response.statusCode !== 200) throw await toServerError(response);
    return await readResponse(type, response);
  };
  return { call, close: () => pool.destroy() };
}

/** Rejects with the errors of the SDK's calls: ServerError for a status, TimeoutError, or a network error with its code. */
function createTwirpClient(
  settings: TwirpClientSettings,
  authorize: Authorize,
): FrequentCalls & Pick<LivekitClients, 'close'> {
  const { call, close } = openConnections(settings, authorize);
  const reader = new RoomListReader();
  const someRooms: ResponseType<Room[]> = {
    fromBinary: (bytes) => reader.readSome(bytes),
    fromJsonString: (text, options) => ListRoomsResponse.fromJsonString(text, options).rooms.map(toRoom),
  };
  const allRooms: ResponseType<Room[]> = { ...someRooms, fromBinary: (bytes) => reader.readAll(bytes) };
  const administer = <T>(room: string, request: TwirpCall<T>) => call({ roomAdmin: true, room }, request);
  return {
    listRooms: async (names) => {
      const body = new ListRoomsRequest({ names: [...names] }).toBinary();
      const type = names.length === 0 ? allRooms : someRooms;
      return await call({ roomList: true }, { method: 'RoomService/ListRooms', body, type });
    },
    listParticipants: async (room) => {
      const body = new ListParticipantsRequest({ room }).toBinary();
      return await administer(room, {
        method: 'RoomService/ListParticipants',
        body,
        type: PARTICIPANT_ENTRIES,
      });
    },
    listDispatch: async (room) => {
      const body = new ListAgentDispatchRequest({ room }).toBinary();
      const request = { method: 'AgentDispatchService/ListDispatch', body, type: ListAgentDispatchResponse };
      return (await administer(room, request)).agentDispatches;
    },
    getParticipant: async (room, identity) => {
      const body = new RoomParticipantIdentity({ room, identity }).toBinary();
      return await administer(room, { method: 'RoomService/GetParticipant', body, type: ParticipantInfo });
    },
    removeParticipant: async (room, identity) => {
      const body = new RoomParticipantIdentity({ room, identity }).toBinary();
      const type = RemoveParticipantResponse;
      await administer(room, { method: 'RoomService/RemoveParticipant', body, type });
    },
    close,
  };
}

type TwirpCall<T> = {
  /** The name of the service and of its method. */
  readonly method: string;
  readonly body: Uint8Array;
  readonly type: ResponseType<T>;
};

/** How to decode a response. */
type ResponseType<T> = {
  readonly fromBinary: (bytes: Uint8Array) => T;
  readonly fromJsonString: (text: string, options: { readonly ignoreUnknownFields: boolean }) => T;
};

const PARTICIPANT_ENTRIES: ResponseType<readonly ParticipantEntry[]> = {
  fromBinary: readEntries,
  fromJsonString: entriesFromJson,
};

const PROTOBUF = 'application/protobuf';

const JSON_TYPE = 'application/json';

/** A Twirp server responds in the encoding of the request; JSON is accepted too. */
async function readResponse<T>(type: ResponseType<T>, response: Dispatcher.ResponseData): Promise<T> {
  if (readMediaType(response) === PROTOBUF) return type.fromBinary(await response.body.bytes());
  return type.fromJsonString(await response.body.text(), { ignoreUnknownFields: true });
}

/** Twirp errors are JSON in both encodings; any other error comes from something that is not LiveKit. */
async function toServerError(response: Dispatcher.ResponseData): Promise<ServerError> {
  const { statusCode } = response;
  const text = await response.body.text();
  const { code, msg, meta } = readMediaType(response) === JSON_TYPE ? parseError(text) : { msg: text };
  const name = STATUS_CODES[statusCode] ?? '';
  return new ServerError(name, msg ?? 'Unknown internal error', statusCode, code, meta);
}

type TwirpErrorBody = {
  readonly code?: string;
  readonly msg?: string;
  readonly meta?: Record<string, string>;
};

function parseError(text: string): TwirpErrorBody {
  return (parseJson(text) ?? {}) as TwirpErrorBody;
}

function readMediaType({ headers }: Dispatcher.ResponseData): string | undefined {
  const type = headers['content-type'];
  return (Array.isArray(type) ? type[0] : type)?.split(';', 1)[0]?.trim().toLowerCase();
}
