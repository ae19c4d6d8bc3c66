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

export type TwirpCode = keyof typeof STATUS_OF_CODE;

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
