import type { JsonValue, Message, MessageType } from '@bufbuild/protobuf';
import type { Access } from './access-token.ts';

/*
 * Twirp v7, https://twitchtv.github.io/twirp/docs/spec_v7.html: POST /twirp/<package>.<Service>/<Method> with a
 * protobuf or JSON message; the response has the same format, and errors are always JSON {code, msg}.
 */
export type TwirpFormat = 'json' | 'protobuf';

/** Maps an encoded request to an encoded response. */
type TwirpMethod = (body: Buffer, format: TwirpFormat, access: Access) => Promise<Buffer>;

export type TwirpService = Readonly<Record<string, TwirpMethod>>;

/** Creates a method that needs media, or that no user of the simulator calls. */
export function unimplemented(method: string): TwirpMethod {
  return async () => {
    throw new TwirpError('unimplemented', `the embedded media server carries no media and has no ${method}`);
  };
}

type Handler<Request, Response> = (request: Request, access: Access) => Response | Promise<Response>;

export function twirpMethod<Request extends Message<Request>, Response extends Message<Response>>(
  type: MessageType<Request>,
  handle: Handler<Request, Response>,
): TwirpMethod {
  return async (body, format, access) => encode(await handle(decode(type, body, format), access), format);
}

function decode<T extends Message<T>>(type: MessageType<T>, body: Buffer, format: TwirpFormat): T {
  try {
    if (format === 'protobuf') return type.fromBinary(body);
    const json = JSON.parse(body.toString('utf8')) as JsonValue;
    return type.fromJson(json, { ignoreUnknownFields: true });
  } catch (error) {
    throw Object.assign(new TwirpError('malformed', `the ${format} request could not be decoded`), {
      cause: error,
    });
  }
}

/** LiveKit's JSON uses the field names of the protobuf files and includes zero values. */
const JSON_FORM = { emitDefaultValues: true, useProtoFieldName: true } as const;

function encode<T extends Message<T>>(message: T, format: TwirpFormat): Buffer {
  return format === 'protobuf'
    ? Buffer.from(message.toBinary())
    : Buffer.from(message.toJsonString(JSON_FORM), 'utf8');
}

/** Twirp's error codes and their HTTP statuses, https://twitchtv.github.io/twirp/docs/errors.html. */
const STATUS_OF_CODE = {
  invalid_argument: 400,
  malformed: 400,
  unauthenticated: 401,
  not_found: 404,
  bad_route: 404,
  deadline_exceeded: 408,
  failed_precondition: 412,
  internal: 500,
  unimplemented: 501,
  unavailable: 503,
} as const satisfies Record<string, number>;

type TwirpCode = keyof typeof STATUS_OF_CODE;

export class TwirpError extends Error {
  override readonly name = 'TwirpError';
  readonly code: TwirpCode;
  readonly meta: Readonly<Record<string, string>> | undefined;

  constructor(code: TwirpCode, message: string, meta?: Readonly<Record<string, string>>) {
    super(message);
    this.code = code;
    this.meta = meta;
  }

  get status(): number {
    return STATUS_OF_CODE[this.code];
  }

  toJson(): string {
    return JSON.stringify({
      code: this.code,
      msg: this.message,
      ...(this.meta === undefined ? {} : { meta: this.meta }),
    });
  }
}

/** An error of LiveKit's inner services (psrpc), whose text reaches Twirp with this prefix. */
export function psrpcError(code: TwirpCode, message: string): TwirpError {
  return new TwirpError(code, `twirp error unknown: ${message}`);
}
