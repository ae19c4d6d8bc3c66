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

export class TwirpFailure extends Error {
  override readonly name = 'TwirpFailure';
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

/** A failure as LiveKit's inner services (psrpc) raise it: their text reaches Twirp with this prefix. */
export function innerFailure(code: TwirpCode, message: string): TwirpFailure {
  return new TwirpFailure(code, `twirp error unknown: ${message}`);
}
