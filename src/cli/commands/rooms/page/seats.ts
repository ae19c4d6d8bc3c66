import { createHash, randomBytes } from 'node:crypto';
import type { RtcClient } from '../../../../client/client.ts';
import { RtcError } from '../../../../client/rtc-error.ts';
import type { Role } from '../../../../contract/choices.ts';
import type { Token } from '../../../../contract/tokens.ts';
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
  readonly name: string;
  readonly role: Role;
  readonly url: string;
  readonly token: string;
  /** Whether the token leads into the waiting room. */
  readonly waiting?: boolean;
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

/** Maximum tokens, and maximum codes, that are remembered. The oldest are dropped first. */
const MOST_REMEMBERED = 1_000;
const PUBLIC_CODE_LASTS_MS = 10 * 60_000;

/**
 * A person in the room. The holder of a local link may take further seats, for further tabs of the same browser; a public link
 * is for one person.
 */
export type Seat = {
  readonly person: Person;
  /** The person for whom the link was made; holders of further seats are named after it. */
  readonly invited: Person;
  readonly link: 'local' | 'public';
};

type Code = Pick<Seat, 'invited' | 'link'> & { readonly endsAt: number };

/** A guest is invited from the page, and chooses a name before joining. */
const GUEST = { identity: 'guest', name: 'Guest' };

export class Seats {
  readonly #deps: SeatsDeps;
  /** Seats by the hash of their token, oldest first. */
  readonly #seats = new Map<string, Seat>();
  readonly #codes = new Map<string, Code>();
  #count = 0;

  constructor(deps: SeatsDeps) {
    this.#deps = deps;
  }

  /** Returns the seat of a token that was issued here. */
  find(token: string): Seat | undefined {
    return this.#seats.get(hashToken(token));
  }

  /**
   * Returns a new seat. The first one belongs to the person who typed the command; further ones are `ada-2`, `ada-3`, for
   * further tabs.
   */
  async take({ invited, link }: Pick<Seat, 'invited' | 'link'>): Promise<Invitation> {
    this.#count += 1;
    const person = this.#count === 1 ? invited : toFurtherPerson(invited, this.#count);
    return await this.issue({ person, invited, link });
  }

  /** Rejects when the service refuses. A person who is blocked loses the seat. */
  async issue(seat: Seat): Promise<Invitation> {
    const { room } = this.#deps;
    const { identity, name, role } = seat.person;
    const { token, url, waiting = false } = await this.confirm(seat);
    this.#seats.set(hashToken(token), seat);
    dropOldest(this.#seats);
    return { room, identity, name, role, url, token, ...(waiting && { waiting }) };
  }

  /** Asks the service whether the person may still join. Rejects, and drops the seat, when the person is blocked. */
  async confirm({ person: { identity, name, role } }: Seat): Promise<Token> {
    const { client, room } = this.#deps;
    try {
      return await client.tokens.create({ roomId: room, userId: identity, name, role });
    } catch (error) {
      if (error instanceof RtcError && error.code === 'participant-blocked') this.drop(identity);
      throw error;
    }
  }

  /** Takes the seats of a person away, who needs another link. */
  drop(identity: string): void {
    for (const [token, { person }] of this.#seats) {
      if (person.identity === identity) this.#seats.delete(token);
    }
  }

  /**
   * Returns a code for a link: a local one works any number of times while the page is served, a public one, which leaves
   * this machine, works once, within ten minutes. It is for the person who typed the command, or for a guest of a role.
   */
  createCode(link: Seat['link'], guestRole?: Role): string {
    const endsAt =
      link === 'local' ? Number.POSITIVE_INFINITY : this.#deps.monotonic() + PUBLIC_CODE_LASTS_MS;
    const invited = guestRole === undefined ? this.#deps.person : { ...GUEST, role: guestRole };
    const text = randomBytes(12).toString('base64url');
    this.#codes.set(text, { link, invited, endsAt });
    dropOldest(this.#codes);
    return text;
  }

  /** Returns undefined for a code that was used, has expired, or is unknown. */
  async redeem(text: string): Promise<Invitation | undefined> {
    const code = this.#codes.get(text);
    if (code === undefined || code.endsAt < this.#deps.monotonic()) return undefined;
    if (code.link === 'public') this.#codes.delete(text);
    return await this.take(code);
  }
}

function toFurtherPerson({ identity, name, role }: Person, number: number): Person {
  return { identity: `${identity}-${number}`, name: `${name} ${number}`, role };
}

function dropOldest(remembered: Map<string, unknown>): void {
  for (const oldest of remembered.keys()) {
    if (remembered.size <= MOST_REMEMBERED) return;
    remembered.delete(oldest);
  }
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
