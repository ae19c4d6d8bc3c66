import type { JsonValue, Message, MessageType } from '@bufbuild/protobuf';
import type { Access } from './access.ts';
import { TwirpFailure } from './twirp-error.ts';

/*
 * Twirp v7, https://twitchtv.github.io/twirp/docs/spec_v7.html: POST /twirp/<package>.<Service>/<Method> with a
 * message as protobuf or as JSON, answered in the same format; errors are JSON {code, msg} always.
 */
export type TwirpFormat = 'json' | 'protobuf';

/** One method: the encoded request in, the encoded answer out. */
export type TwirpMethod = (body: Buffer, format: TwirpFormat, access: Access) => Promise<Buffer>;

export type TwirpService = Readonly<Record<string, TwirpMethod>>;

/** What would need media, or is used by nobody who reaches an embedded server. */
export function unimplemented(method: string): TwirpMethod {
  return async () => {
    throw new TwirpFailure(
      'unimplemented',
      `the embedded media server carries no media and has no ${method}`,
    );
  };
}

export type Handler<Request, Answer> = (request: Request, access: Access) => Answer | Promise<Answer>;

export function twirpMethod<Request extends Message<Request>, Answer extends Message<Answer>>(
  type: MessageType<Request>,
  handle: Handler<Request, Answer>,
): TwirpMethod {
  return async (body, format, access) => encode(await handle(decode(type, body, format), access), format);
}

function decode<T extends Message<T>>(type: MessageType<T>, body: Buffer, format: TwirpFormat): T {
  try {
    if (format === 'protobuf') return type.fromBinary(body);
    const json = JSON.parse(body.toString('utf8')) as JsonValue;
    return type.fromJson(json, { ignoreUnknownFields: true });
  } catch (error) {
    throw Object.assign(new TwirpFailure('malformed', `the ${format} request could not be decoded`), {
      cause: error,
    });
  }
}

/** LiveKit's JSON uses the names of the protobuf files and shows zero values. */
const JSON_FORM = { emitDefaultValues: true, useProtoFieldName: true } as const;

function encode<T extends Message<T>>(message: T, format: TwirpFormat): Buffer {
  return format === 'protobuf'
    ? Buffer.from(message.toBinary())
    : Buffer.from(message.toJsonString(JSON_FORM), 'utf8');
}
