import { createHash, randomBytes } from 'node:crypto';
import type { RtcClient } from '../../../../client/client.ts';
import type { Role } from '../../../../contract/choices.ts';
import type { Environment } from '../../../terminal/io.ts';

/*
 * The users of the page of a room. The link has a code, which the page exchanges for a seat: a person in the room with the
 * access token that the service issued. From then on the page proves its seat with that token, even after it has expired,
 * and gets a fresh one for it.
 */

export type Person = { readonly identity: string; readonly name: string; readonly role: Role };

/** The same shape as in src/web/room/session.ts, which reads it from the page's address. */
export type Invitation = {
  readonly room: string;
  readonly identity: string;
  readonly role: Role;
  readonly url: string;
  readonly token: string;
};

/** The identity to join with by default: the user of this machine. */
export function userIdentity({ USER, USERNAME }: Environment): string {
  return USER ?? USERNAME ?? 'operator';
}

export type SeatsDeps = {
  readonly client: Pick<RtcClient, 'tokens'>;
  readonly room: string;
  readonly person: Person;
  /** Monotonic milliseconds, so that a code lasts no longer when the clock is set back. */
  readonly monotonic: () => number;
};

/** Maximum tokens that are remembered. The oldest are dropped first. */
const MOST_TOKENS = 1_000;
const PUBLIC_CODE_LASTS_MS = 10 * 60_000;

type Code = { readonly isReusable: boolean; readonly endsAt: number };

export class Seats {
  readonly #deps: SeatsDeps;
  /** People by the hash of their token, oldest first. */
  readonly #people = new Map<string, Person>();
  readonly #codes = new Map<string, Code>();
  #count = 0;

  constructor(deps: SeatsDeps) {
    this.#deps = deps;
  }

  /** Returns the person of a token that was issued here. */
  find(token: string): Person | undefined {
    return this.#people.get(hashToken(token));
  }

  /**
   * Returns a new seat. The first one is that of the person who typed the command; further ones are `ada-2`, `ada-3`, for
   * further tabs.
   */
  async take(): Promise<Invitation> {
    this.#count += 1;
    if (this.#count === 1) return await this.issue(this.#deps.person);
    const { identity, name, role } = this.#deps.person;
    const suffix = String(this.#count);
    return await this.issue({ identity: `${identity}-${suffix}`, name: `${name} ${suffix}`, role });
  }

  async issue(person: Person): Promise<Invitation> {
    const { client, room } = this.#deps;
    const { identity, name, role } = person;
    const { token, url } = await client.tokens.create({ roomId: room, userId: identity, name, role });
    this.#people.set(hashToken(token), person);
    for (const oldest of this.#people.keys()) {
      if (this.#people.size <= MOST_TOKENS) break;
      this.#people.delete(oldest);
    }
    return { room, identity, role, url, token };
  }

  /** Returns a code for a link on this machine: it works any number of times while the page is served. */
  createLocalCode(): string {
    return this.#addCode({ isReusable: true, endsAt: Number.POSITIVE_INFINITY });
  }

  /** Returns a code for a link that leaves this machine: it works once, within ten minutes. */
  createPublicCode(): string {
    return this.#addCode({ isReusable: false, endsAt: this.#deps.monotonic() + PUBLIC_CODE_LASTS_MS });
  }

  #addCode(code: Code): string {
    const text = randomBytes(12).toString('base64url');
    this.#codes.set(text, code);
    return text;
  }

  /** Returns undefined for a code that was used, has expired, or is unknown. */
  async redeem(text: string): Promise<Invitation | undefined> {
    const code = this.#codes.get(text);
    if (code === undefined || code.endsAt < this.#deps.monotonic()) return undefined;
    if (!code.isReusable) this.#codes.delete(text);
    return await this.take();
  }
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
