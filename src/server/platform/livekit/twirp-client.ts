import { STATUS_CODES } from 'node:http';
import {
  type AgentDispatch,
  ListAgentDispatchRequest,
  ListAgentDispatchResponse,
  ListParticipantsRequest,
  ListParticipantsResponse,
  ListRoomsRequest,
  ListRoomsResponse,
} from '@livekit/protocol';
import { type ParticipantInfo, ServerError } from 'livekit-server-sdk';
import { type Dispatcher, Pool } from 'undici';
import type { Room } from '../../../contract/rooms.ts';
import { toRoom } from './records.ts';
import { RoomListReader } from './room-list-reader.ts';

/*
 * The calls that are made for every room or return all of them, in protobuf, the other encoding of Twirp
 * (https://twitchtv.github.io/twirp/docs/spec_v7.html). The SDK uses JSON, which takes the media server three times as long
 * to write and us twice as long to read. It also uses fetch, which needs four times the processor time of undici's own
 * requests.
 */

export type TwirpClientSettings = {
  /** Address of the media server's API, http or https; the path is ignored. */
  readonly url: string;
  readonly timeoutMs: number;
};

type Headers = Readonly<Record<string, string>>;

/** Rejects with the errors of the SDK's calls: ServerError for a status, TimeoutError, or a network error with its code. */
export type TwirpClient = {
  /** Lists rooms; all of them for an empty list of names. The caller must not change them: later lists contain them too. */
  readonly listRooms: (headers: Headers, names: readonly string[]) => Promise<Room[]>;
  readonly listParticipants: (headers: Headers, room: string) => Promise<ParticipantInfo[]>;
  readonly listDispatch: (headers: Headers, room: string) => Promise<AgentDispatch[]>;
  /** Ends the connections. */
  readonly close: () => Promise<void>;
};

export function createTwirpClient({ url, timeoutMs }: TwirpClientSettings): TwirpClient {
  const pool = new Pool(new URL(url).origin, {
    // With HTTP/2 all requests would share one connection.
    allowH2: false,
    // The signal limits the whole call.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: timeoutMs },
  });
  const reader = new RoomListReader();
  const someRooms: ResponseType<Room[]> = {
    fromBinary: (bytes) => reader.readSome(bytes),
    fromJsonString: (text, options) => ListRoomsResponse.fromJsonString(text, options).rooms.map(toRoom),
  };
  const allRooms: ResponseType<Room[]> = { ...someRooms, fromBinary: (bytes) => reader.readAll(bytes) };
  const call = async <T>(headers: Headers, { method, body, type }: TwirpCall<T>): Promise<T> => {
    const response = await pool.request({
      method: 'POST',
      path: `/twirp/livekit.${method}`,
      headers: { 'content-type': PROTOBUF, 'user-agent': 'rtc-service', ...headers },
      body,
      signal: AbortSignal.timeout(Math.ceil(timeoutMs)),
    });
    if (response.statusCode !== 200) throw await toServerError(response);
    return await readResponse(type, response);
  };
  return {
    listRooms: async (headers, names) => {
      const body = new ListRoomsRequest({ names: [...names] }).toBinary();
      const type = names.length === 0 ? allRooms : someRooms;
      return await call(headers, { method: 'RoomService/ListRooms', body, type });
    },
    listParticipants: async (headers, room) => {
      const body = new ListParticipantsRequest({ room }).toBinary();
      const request = { method: 'RoomService/ListParticipants', body, type: ListParticipantsResponse };
      return (await call(headers, request)).participants;
    },
    listDispatch: async (headers, room) => {
      const body = new ListAgentDispatchRequest({ room }).toBinary();
      const request = { method: 'AgentDispatchService/ListDispatch', body, type: ListAgentDispatchResponse };
      return (await call(headers, request)).agentDispatches;
    },
    close: () => pool.destroy(),
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

const PROTOBUF = 'application/protobuf';
const JSON_TYPE = 'application/json';

/** A Twirp server responds in the encoding of the request; JSON is accepted too. */
async function readResponse<T>(type: ResponseType<T>, response: Dispatcher.ResponseData): Promise<T> {
  if (mediaTypeOf(response) === PROTOBUF) return type.fromBinary(await response.body.bytes());
  return type.fromJsonString(await response.body.text(), { ignoreUnknownFields: true });
}

/** Twirp errors are JSON in both encodings; any other error comes from something that is not LiveKit. */
async function toServerError(response: Dispatcher.ResponseData): Promise<ServerError> {
  const { statusCode } = response;
  const text = await response.body.text();
  const { code, msg, meta } = mediaTypeOf(response) === JSON_TYPE ? parseError(text) : { msg: text };
  const name = STATUS_CODES[statusCode] ?? '';
  return new ServerError(name, msg ?? 'Unknown internal error', statusCode, code, meta);
}

type TwirpErrorBody = {
  readonly code?: string;
  readonly msg?: string;
  readonly meta?: Record<string, string>;
};

function parseError(text: string): TwirpErrorBody {
  try {
    return (JSON.parse(text) ?? {}) as TwirpErrorBody;
  } catch {
    return {};
  }
}

function mediaTypeOf({ headers }: Dispatcher.ResponseData): string | undefined {
  const type = headers['content-type'];
  return (Array.isArray(type) ? type[0] : type)?.split(';', 1)[0]?.trim().toLowerCase();
}
