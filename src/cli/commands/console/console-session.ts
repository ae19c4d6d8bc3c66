import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/*
 * Access to the console. The printed link has a code in its fragment, which no browser sends to a server. The page exchanges
 * the code for a cookie that no script can read and no other site can send. Both are random, and end with the command.
 */
export class ConsoleSession {
  readonly #code = randomBytes(24).toString('base64url');
  readonly #token = randomBytes(24).toString('base64url');

  /** Returns the link for a browser on this machine. */
  linkOf(origin: string): string {
    return `${origin}/#code=${this.#code}`;
  }

  /** Returns the Set-Cookie header for the right code; undefined for any other text. */
  redeem(code: string, origin: string): string | undefined {
    if (!isEqual(code, this.#code)) return undefined;
    return `${cookieName(origin)}=${this.#token}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** Whether the Cookie header of a request is that of this console. */
  isOpenedBy(cookies: string | undefined, origin: string): boolean {
    const prefix = `${cookieName(origin)}=`;
    const values = (cookies ?? '').split(/; */).filter((pair) => pair.startsWith(prefix));
    return values.some((pair) => isEqual(pair.slice(prefix.length), this.#token));
  }
}

/** Cookies do not distinguish ports, so two consoles at once need two names. */
function cookieName(origin: string): string {
  return `rtc-console-${new URL(origin).port}`;
}

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
