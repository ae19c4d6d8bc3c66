import { ServiceError } from '../../../../contract/errors.ts';
import {
  type LimitedKind,
  type OwnKey,
  ROOM_LIMITS,
  ROOT_KEY_ID,
  type RoomLimit,
  type RoomPrefixes,
} from '../../../../contract/keys.ts';
import type { Clock } from '../../clock.ts';
import type { Caller } from '../route.ts';

/*
 * How much of each kind one API key may have, so that no key takes what others need. The root key has no such limit. Stores
 * count by the key that made a row, in the transaction that adds one.
 */

/** The limit of one key for one kind. */
export type KeyQuota = { readonly keyId: string; readonly limit: number };

/** More than any table has rows. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export const ROOT_QUOTA: KeyQuota = { keyId: ROOT_KEY_ID, limit: NO_LIMIT };

type KeyUsage = NonNullable<OwnKey['limits']>;

type KeyLimitsDeps = {
  readonly limits: Readonly<Record<LimitedKind, number>>;
  readonly counts: Readonly<Record<LimitedKind, (keyId: string) => Promise<number>>>;
  readonly rooms: RoomCounts;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called for each request that is refused. */
  readonly onRefused?: ((kind: LimitedKind | RoomLimit) => void) | undefined;
};

type Entering = { readonly room: string; readonly identity?: string | undefined };

/** Counts what is in the rooms of a key, up to a limit. */
type RoomCounts = {
  readonly isOpen: (room: string) => Promise<boolean>;
  /** Counts the open rooms of these prefixes, without the room `except`, up to `limit`. */
  readonly countOpen: (query: {
    readonly rooms: RoomPrefixes;
    readonly except?: string | undefined;
    readonly limit: number;
  }) => Promise<number>;
  /** Counts the people in those rooms, without the person `identity` in the room `except`, up to `limit`. */
  readonly countPresent: (query: {
    readonly rooms: RoomPrefixes;
    readonly except?: string | undefined;
    readonly identity?: string | undefined;
    readonly limit: number;
  }) => Promise<number>;
  /** Participant minutes of the current month. */
  readonly countMinutes: (rooms: RoomPrefixes) => Promise<number>;
};

/** Minutes are added up again after this time. */
const MINUTES_FRESH_MS = 60_000;

/** More keys than are active cannot be remembered. */
const MOST_REMEMBERED = 1_000;

export class KeyLimits {
  readonly #deps: KeyLimitsDeps;
  readonly #minutes = new Map<string, { readonly used: Promise<number>; readonly readAt: number }>();

  constructor(deps: KeyLimitsDeps) {
    this.#deps = deps;
  }

  quota(kind: LimitedKind, { keyId, scopes, limits }: Caller): KeyQuota {
    if (scopes === undefined) return { keyId, limit: NO_LIMIT };
    const own = kind === 'webhooks' || kind === 'plans' ? limits?.[kind] : undefined;
    return { keyId, limit: Math.min(own ?? NO_LIMIT, this.#deps.limits[kind]) };
  }

  /**
   * Throws key-limit-reached for a room that is not open, when the key has as many open rooms as it may have. Returns undefined
   * for a key without such a limit. Rooms that open at the same moment may be one too many.
   */
  checkRoom(caller: Caller | undefined, room: string): Promise<void> | undefined {
    return caller?.limits?.rooms === undefined ? undefined : this.#checkRoom(caller, room);
  }

  /** Throws key-limit-reached when nobody else may come into the rooms of the key. Returns undefined without such limits. */
  checkPerson(caller: Caller | undefined, entering: Entering): Promise<void> | undefined {
    const isLimited = ROOM_LIMITS.some((kind) => caller?.limits?.[kind] !== undefined);
    return caller === undefined || !isLimited ? undefined : this.#checkPerson(caller, entering);
  }

  async #checkRoom(caller: Caller, room: string): Promise<void> {
    const { limits: { rooms: limit } = {}, rooms } = caller;
    if (limit === undefined || rooms === undefined) return;
    if ((await this.#deps.rooms.countOpen({ rooms, except: room, limit })) < limit) return;
    if (!(await this.#deps.rooms.isOpen(room))) throw this.#refuseOwn('rooms', caller);
  }

  async #checkPerson(caller: Caller, { room, identity }: Entering): Promise<void> {
    const { limits: { participants, minutesPerMonth } = {}, rooms } = caller;
    if (rooms === undefined) return;
    await this.#checkRoom(caller, room);
    if (participants !== undefined) {
      const asked = { rooms, except: room, identity, limit: participants };
      const present = await this.#deps.rooms.countPresent(asked);
      if (present >= participants) throw this.#refuseOwn('participants', caller);
    }
    if (minutesPerMonth === undefined) return;
    if ((await this.#readMinutes(caller.keyId, rooms)) >= minutesPerMonth)
      throw this.#refuseOwn('minutesPerMonth', caller);
  }

  /** Requests at the same moment share one reading. */
  #readMinutes(keyId: string, rooms: RoomPrefixes): Promise<number> {
    const now = this.#deps.clock.monotonic();
    const known = this.#minutes.get(keyId);
    if (known !== undefined && now - known.readAt < MINUTES_FRESH_MS) return known.used;
    const used = this.#deps.rooms.countMinutes(rooms);
    if (this.#minutes.size >= MOST_REMEMBERED) this.#minutes.clear();
    const read = { used, readAt: now };
    this.#minutes.set(keyId, read);
    used.catch(() => {
      if (this.#minutes.get(keyId) === read) this.#minutes.delete(keyId);
    });
    return used;
  }

  #refuseOwn(kind: RoomLimit, { keyId, limits }: Caller): ServiceError {
    this.#deps.onRefused?.(kind);
    const limit = limits?.[kind] ?? 0;
    return new ServiceError('key-limit-reached', `${keyId} may have only ${limit} ${OWN_NOUNS[kind]}.`, {
      hint: { text: OWN_REMEDIES[kind] },
      extensions: { kind, limit },
    });
  }

  /** Returns the error for a key that has as many as it may have. */
  refuse(kind: LimitedKind, caller: Caller): ServiceError {
    this.#deps.onRefused?.(kind);
    const { keyId } = caller;
    const { limit } = this.quota(kind, caller);
    const setting = limit < this.#deps.limits[kind] ? 'its own limit' : `MAX_${kind.toUpperCase()}_PER_KEY`;
    return new ServiceError(
      'key-limit-reached',
      `${keyId} already has ${limit} ${kind}, as many as ${setting} allows.`,
      { hint: REMEDIES[kind], extensions: { kind, limit } },
    );
  }

  /** Returns how much a key has of each kind. */
  async read(caller: Caller): Promise<KeyUsage> {
    const { counts } = this.#deps;
    const read = async (kind: LimitedKind) => ({
      used: await counts[kind](caller.keyId),
      limit: this.quota(kind, caller).limit,
    });
    const [webhooks, plans, vocabularies, blocks] = await Promise.all([
      read('webhooks'),
      read('plans'),
      read('vocabularies'),
      read('blocks'),
    ]);
    return { webhooks, plans, vocabularies, blocks, ...(await this.#readOwn(caller)) };
  }

  async #readOwn({ keyId, limits = {}, rooms }: Caller): Promise<Partial<KeyUsage>> {
    const { requestsPerSecond } = limits;
    const own: Partial<KeyUsage> = requestsPerSecond
      ? { requestsPerSecond: { limit: requestsPerSecond } }
      : {};
    if (rooms === undefined) return own;
    const query = { rooms, limit: NO_LIMIT };
    const count: Readonly<Record<RoomLimit, () => Promise<number>>> = {
      rooms: () => this.#deps.rooms.countOpen(query),
      participants: () => this.#deps.rooms.countPresent(query),
      minutesPerMonth: async () => Math.floor(await this.#readMinutes(keyId, rooms)),
    };
    for (const kind of ROOM_LIMITS) {
      const limit = limits[kind];
      if (limit !== undefined) own[kind] = { used: await count[kind](), limit };
    }
    return own;
  }
}

const OWN_NOUNS: Readonly<Record<RoomLimit, string>> = {
  rooms: 'open rooms at once',
  participants: 'people in its rooms at once',
  minutesPerMonth: 'participant minutes a month',
};

const OWN_REMEDIES: Readonly<Record<RoomLimit, string>> = {
  rooms: 'close one that is no longer needed',
  participants: 'try again when somebody has left',
  minutesPerMonth: 'wait for the next month, in UTC, or ask the operator for another key',
};

const REMEDIES = {
  webhooks: { text: 'delete one that this key registered', command: 'rtc webhooks delete ID' },
  plans: { text: 'delete one that is over, or plan by prefix', command: 'rtc plans delete ID' },
  vocabularies: {
    text: 'delete that of a room which no longer needs it',
    command: 'rtc vocabulary delete ROOM',
  },
  blocks: { text: 'lift blocks that are no longer needed', command: 'rtc blocks remove ROOM IDENTITY' },
} as const satisfies Record<LimitedKind, object>;
