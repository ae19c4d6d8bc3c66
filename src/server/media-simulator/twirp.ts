import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JsonValue, Message, MessageType } from '@bufbuild/protobuf';
import type { VideoGrant } from 'livekit-server-sdk';

/*
 * Twirp v7, https://twitchtv.github.io/twirp/docs/spec_v7.html: POST /twirp/<package>.<Service>/<Method> with a
 * protobuf or JSON message; the response has the same format, and errors are always JSON {code, msg}.
 */
export type TwirpFormat = 'json' | 'protobuf';

/** Maps an encoded request to an encoded response. */
type TwirpMethod = (body: Buffer, format: TwirpFormat, access: Access) => Promise<Buffer>;

export type TwirpService = Readonly<Record<string, TwirpMethod>>;

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

/** The caller's identity and grants, or ANONYMOUS without a token. */
export type Access = {
  readonly identity: string;
  readonly name: string;
  readonly metadata: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly video: Readonly<VideoGrant>;
  readonly roomConfig?: RoomConfig | undefined;
};

/** Settings of a room that a join opens: the part of LiveKit's RoomConfiguration that rooms here have. */
export type RoomConfig = {
  readonly maxParticipants?: number;
  readonly emptyTimeout?: number;
  readonly departureTimeout?: number;
  readonly metadata?: string;
};

export const ANONYMOUS: Access = {
  identity: '',
  name: '',
  metadata: '',
  attributes: {},
  video: {},
};

/** Causes a 401 with a plain text before any service is called. */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError';
}

export type Keys = { readonly apiKey: string; readonly apiSecret: string; readonly tokenTime: () => number };

const LEEWAY_SECONDS = 60;

export function readAccess(authorization: string | undefined, keys: Keys): Access {
  if (authorization === undefined || authorization === '') return ANONYMOUS;
  if (!authorization.startsWith('Bearer ')) {
    throw new InvalidTokenError('invalid authorization header. Must start with Bearer ');
  }
  return verifyToken(authorization.slice('Bearer '.length), keys);
}

/**
 * Verifies LiveKit's access tokens, https://docs.livekit.io/home/get-started/authentication/: a JWT (RFC 7519) signed
 * with HS256 and the secret of the key that `iss` names; `sub` is the identity, `video` has the grants. The error texts
 * and the minute of leeway are LiveKit's.
 */
function verifyToken(token: string, keys: Keys): Access {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const claims = decodePart(payload);
  if (claims === undefined || decodePart(header)?.alg !== 'HS256') {
    throw new InvalidTokenError('invalid authorization token');
  }
  if (claims.iss !== keys.apiKey) throw new InvalidTokenError(`invalid API key: ${claims.iss ?? ''}`);
  const error = isSigned(`${header}.${payload}`, signature, keys.apiSecret)
    ? findTimeError(claims, keys.tokenTime() / 1000)
    : 'token signature is invalid: signature is invalid';
  // LiveKit quotes the token, so this text does too. Callers must remove it before they show or log the text.
  if (error !== undefined) throw new InvalidTokenError(`invalid token: ${token}, error: ${error}`);
  return toAccess(claims);
}

type Claims = {
  readonly alg?: string;
  readonly iss?: string;
  readonly sub?: string;
  readonly exp?: number;
  readonly nbf?: number;
  readonly name?: string;
  readonly metadata?: string;
  readonly attributes?: Record<string, string>;
  readonly video?: VideoGrant;
  readonly roomConfig?: RoomConfig;
};

function decodePart(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function isSigned(signed: string, signature: string, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(signed).digest();
  const given = Buffer.from(signature, 'base64url');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function findTimeError({ exp, nbf }: Claims, nowSeconds: number): string | undefined {
  if (exp !== undefined && nowSeconds > exp + LEEWAY_SECONDS) {
    return 'token has invalid claims: token is expired';
  }
  if (nbf !== undefined && nowSeconds < nbf - LEEWAY_SECONDS) {
    return 'token has invalid claims: token is not valid yet';
  }
  return undefined;
}

function toAccess(claims: Claims): Access {
  return {
    identity: claims.sub ?? '',
    name: claims.name ?? '',
    metadata: claims.metadata ?? '',
    attributes: claims.attributes ?? {},
    video: claims.video ?? {},
    roomConfig: claims.roomConfig,
  };
}

type FlagGrant = 'roomCreate' | 'roomList' | 'roomRecord' | 'ingressAdmin';

/** LiveKit responds with 401, never 403, when a grant is missing. */
export function ensureGrant(access: Access, grant: FlagGrant): void {
  if (access.video[grant] !== true) throw permissionDenied();
}

export function ensureRoomAdmin(access: Access, room: string): void {
  if (access.video.roomAdmin !== true || (access.video.room ?? '') !== room) throw permissionDenied();
}

function permissionDenied(): TwirpError {
  return new TwirpError('unauthenticated', 'permissions denied');
}
