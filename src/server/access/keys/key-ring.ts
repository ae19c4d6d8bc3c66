import type { Clock } from '../../platform/clock.ts';
import type { FindKey, KnownKey } from '../../platform/http/authentication/authenticate-request.ts';
import { openCachedReading } from '../../platform/storage/cached-reading.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import type { AccessStores, ApiKey } from '../store.ts';
import type { SecretBox } from './keys.ts';

/*
 * Keeps the active keys in memory, so that a request needs no read. An instance that was not notified of a change continues
 * with the keys it has for MAX_AGE_MS, also while the database does not respond, and no longer.
 *
 * All keys are read at once, so that unknown keys, which anybody can send, cost no read each.
 */

/** Maximum time for which an instance that was not notified may accept a revoked key. */
export const MAX_AGE_MS = 5000;

/** Pattern of key ids. Other texts are not looked up. */
const KEY_ID = /^key_[\w-]{1,64}$/;

export type KeyRingDeps = {
  readonly store: Pick<AccessStores, 'keys'> & { readonly changes: ChangeFeed };
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly secretBox: Pick<SecretBox, 'open'>;
};

type ActiveKey = KnownKey & { readonly expiresAt: number | null };

export type KeyRing = { readonly find: FindKey; readonly close: () => void };

export function openKeyRing(deps: KeyRingDeps): KeyRing {
  const { store, clock } = deps;
  const active = openCachedReading({
    store,
    clock,
    topic: 'keys',
    read: () => readActive(deps, clock.now()),
    maxAgeMs: MAX_AGE_MS,
  });
  return {
    find: async (apiKey) => {
      if (!KEY_ID.test(apiKey)) return undefined;
      const known = (await active.current()).get(apiKey);
      const isExpired = known !== undefined && known.expiresAt !== null && known.expiresAt <= clock.now();
      return isExpired ? undefined : known;
    },
    close: active.close,
  };
}

async function readActive(
  { store, secretBox }: KeyRingDeps,
  now: number,
): Promise<ReadonlyMap<string, ActiveKey>> {
  const keys = await store.keys.listActive(now);
  return new Map(keys.flatMap((key) => opened(key, secretBox)));
}

/** A key whose ENCRYPTION_KEY was lost is rejected like an unknown one; re-encrypt-keys.ts logs it. */
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
