import { ListRoomsRequest, ListRoomsResponse } from '@livekit/protocol';
import { type Room, ServerError } from 'livekit-server-sdk';

/*
 * ListRooms in protobuf, the other encoding of Twirp (https://twitchtv.github.io/twirp/docs/spec_v7.html). The SDK
 * speaks JSON, and a list in JSON takes the media server three times and its reader twice as long.
 */

export type ListRoomsCall = {
  /** Of the media server's API, by http or https; its path does not count. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty: all rooms. */
  readonly names: readonly string[];
  readonly timeoutMs: number;
};

/** Fails as the SDK's own calls do: ServerError for a status, TimeoutError, and fetch's TypeError. */
export async function callListRooms({ url, headers, names, timeoutMs }: ListRoomsCall): Promise<Room[]> {
  const response = await fetch(new URL('/twirp/livekit.RoomService/ListRooms', url), {
    method: 'POST',
    headers: { 'content-type': PROTOBUF, ...headers },
    body: new ListRoomsRequest({ names: [...names] }).toBinary(),
    signal: AbortSignal.timeout(Math.ceil(timeoutMs)),
  });
  if (!response.ok) throw await toServerError(response);
  return (await readAnswer(response)).rooms;
}

const PROTOBUF = 'application/protobuf';
const JSON_TYPE = 'application/json';

/** A server answers in the encoding of the request; JSON is understood as well, and nothing else. */
async function readAnswer(response: Response): Promise<ListRoomsResponse> {
  if (mediaTypeOf(response) === PROTOBUF) return ListRoomsResponse.fromBinary(await response.bytes());
  return ListRoomsResponse.fromJsonString(await response.text(), { ignoreUnknownFields: true });
}

/** Errors are JSON in both encodings; one that is not comes from something else. */
async function toServerError(response: Response): Promise<ServerError> {
  const { status, statusText } = response;
  const text = await response.text();
  const { code, msg, meta } = mediaTypeOf(response) === JSON_TYPE ? parseError(text) : { msg: text };
  return new ServerError(statusText, msg ?? 'Unknown internal error', status, code, meta);
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

function mediaTypeOf(response: Response): string | undefined {
  return response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
}
