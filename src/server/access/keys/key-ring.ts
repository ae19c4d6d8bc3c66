import type { Clock } from '../../platform/clock.ts';
import type { FindKey, KnownKey } from '../../platform/http/authentication/credentials.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import type { AccessStores, ApiKey } from '../store.ts';
import type { SecretBox } from './keys.ts';

/*
 * The active keys in memory, so that a request reads nothing. A change is told to all instances, each of which then
 * forgets what it knew; one that was not told, because its connection was lost, reads anew after MAX_AGE_MS. Until then
 * it goes on accepting what it knew, also while the database is away, and no longer.
 *
 * All keys are read at once, so that unknown ones, which anybody can send, cost no read each.
 */

/** The longest that a revoked key may be accepted, by an instance that was not told. */
export const MAX_AGE_MS = 5000;

/** Others, and anything longer, is no key: it is not looked for. */
const KEY_ID = /^key_[\w-]{1,64}$/;

export type KeyRingDeps = {
  readonly store: Pick<AccessStores, 'keys'> & { readonly changes: ChangeFeed };
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly secretBox: Pick<SecretBox, 'open'>;
};

type ActiveKey = KnownKey & { readonly expiresAt: number | null };
/** `startedAt` by the monotonic clock: a revoked key must not live on because the time of day was set back. */
type Reading = { readonly startedAt: number; readonly keys: Promise<ReadonlyMap<string, ActiveKey>> };

export type KeyRing = { readonly find: FindKey; readonly close: () => void };

export function openKeyRing(deps: KeyRingDeps): KeyRing {
  const { store, clock } = deps;
  let latest: Reading | undefined;
  const forget = () => {
    latest = undefined;
  };
  const unsubscribe = store.changes.subscribe('keys', forget);
  /** Requests that come while a read runs share it, unless a change was told meanwhile. */
  const read = (): Promise<ReadonlyMap<string, ActiveKey>> => {
    const startedAt = clock.monotonic();
    if (latest !== undefined && startedAt - latest.startedAt < MAX_AGE_MS) return latest.keys;
    const reading: Reading = { startedAt, keys: readActive(deps, clock.now()) };
    latest = reading;
    reading.keys.catch(() => {
      if (latest === reading) forget();
    });
    return reading.keys;
  };
  return {
    find: async (apiKey) => {
      if (!KEY_ID.test(apiKey)) return undefined;
      const known = (await read()).get(apiKey);
      const isExpired = known !== undefined && known.expiresAt !== null && known.expiresAt <= clock.now();
      return isExpired ? undefined : known;
    },
    close: unsubscribe,
  };
}

async function readActive(
  { store, secretBox }: KeyRingDeps,
  now: number,
): Promise<ReadonlyMap<string, ActiveKey>> {
  const keys = await store.keys.listActive(now);
  return new Map(keys.flatMap((key) => opened(key, secretBox)));
}

/** A key whose ENCRYPTION_KEY is lost is accepted no more than an unknown one; re-encrypt-keys.ts logs it. */
function opened(
  { id, secret, scopes, expiresAt }: ApiKey,
  box: KeyRingDeps['secretBox'],
): readonly (readonly [string, ActiveKey])[] {
  if (secret === null) return [];
  try {
    return [[id, { caller: { keyId: id, scopes }, secret: box.open(secret, id), expiresAt }]];
  } catch {
    return [];
  }
}
