/** The service's address: the origin to connect to, and the prefix of every path (`` or `/rtc`). */
export type ServiceUrl = { readonly origin: string; readonly prefix: string };

/** A base address that cannot be used. `reason` is text to follow the name of the setting. */
export class InvalidUrlError extends TypeError {
  readonly reason: string;

  constructor(reason: string, message = `the service's URL ${reason}`) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Splits a base address such as `https://rtc.example.org` or `https://example.org/rtc/`. The prefix is sent and
 * signed: a proxy that strips it from the path breaks the signature.
 * @throws InvalidUrlError
 */
export function parseServiceUrl(text: string): ServiceUrl {
  const url = parseUrl(text);
  if (url === undefined) {
    const reason = `${JSON.stringify(text)} is not a URL`;
    throw new InvalidUrlError(reason, `${reason} such as http://127.0.0.1:3000`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InvalidUrlError(`must start with http:// or https://, not ${url.protocol}//`);
  }
  // The message does not contain the value, because that may contain a password.
  if (url.username !== '' || url.password !== '') {
    throw new InvalidUrlError('must not contain a user name or password');
  }
  if (url.search !== '' || url.hash !== '')
    throw new InvalidUrlError('must not contain a query or a fragment');
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

/** Replaces URL.parse, which Node 20 does not have. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * Joins segments to a path, each percent-encoded. Dots are encoded too, so that no proxy takes a room named `..` for a
 * parent.
 */
export function toPath(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encodeSegment(segment)}`).join('');
}

function encodeSegment(segment: string): string {
  if (/^\.{1,2}$/.test(segment)) return segment.replaceAll('.', '%2E');
  return encodeURIComponent(segment);
}
