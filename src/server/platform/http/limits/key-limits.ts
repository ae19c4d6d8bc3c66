import { ServiceError } from '../../../../contract/errors.ts';
import { type LimitedKind, type OwnKey, ROOT_KEY_ID } from '../../../../contract/keys.ts';
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
  /** Called for each request that is refused. */
  readonly onRefused?: ((kind: LimitedKind) => void) | undefined;
};

export class KeyLimits {
  readonly #deps: KeyLimitsDeps;

  constructor(deps: KeyLimitsDeps) {
    this.#deps = deps;
  }

  quota(kind: LimitedKind, { keyId, scopes }: Caller): KeyQuota {
    return { keyId, limit: scopes === undefined ? NO_LIMIT : this.#deps.limits[kind] };
  }

  /** Returns the error for a key that has as many as it may have. */
  refuse(kind: LimitedKind, { keyId }: Caller): ServiceError {
    this.#deps.onRefused?.(kind);
    const limit = this.#deps.limits[kind];
    const setting = `MAX_${kind.toUpperCase()}_PER_KEY`;
    return new ServiceError(
      'key-limit-reached',
      `${keyId} already has ${limit} ${kind}, as many as ${setting} allows one API key.`,
      { hint: REMEDIES[kind], extensions: { kind, limit } },
    );
  }

  /** Returns how much a key has of each kind. */
  async read(keyId: string): Promise<KeyUsage> {
    const { counts, limits } = this.#deps;
    const read = async (kind: LimitedKind) => ({ used: await counts[kind](keyId), limit: limits[kind] });
    const [webhooks, vocabularies, blocks] = await Promise.all([
      read('webhooks'),
      read('vocabularies'),
      read('blocks'),
    ]);
    return { webhooks, vocabularies, blocks };
  }
}

const REMEDIES = {
  webhooks: { text: 'delete one that this key registered', command: 'rtc webhooks delete ID' },
  vocabularies: {
    text: 'delete that of a room which no longer needs it',
    command: 'rtc vocabulary delete ROOM',
  },
  blocks: { text: 'lift blocks that are no longer needed', command: 'rtc blocks remove ROOM IDENTITY' },
} as const satisfies Record<LimitedKind, object>;
