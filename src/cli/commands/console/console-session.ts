import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/*
 * Access to the console. The link that the command prints holds a code in its fragment, which no browser sends to a
 * server. The page exchanges the code for a cookie that no script can read and that no other site can send. Both are
 * random, and end with the command.
 */
export class ConsoleSession {
  readonly #code = randomBytes(24).toString('base64url');
  readonly #token = randomBytes(24).toString('base64url');

  /** The link for a browser on this machine. */
  linkOf(origin: string): string {
    return `${origin}/#code=${this.#code}`;
  }

  /** The Set-Cookie header for whoever has the code; undefined for any other text. */
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

/** Cookies do not tell ports apart: two consoles at once need two names. */
function cookieName(origin: string): string {
  return `rtc-console-${new URL(origin).port}`;
}

/** In the same time whatever differs. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
