import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FindKey, KnownKey } from '../../platform/http/authentication/authenticate-request.ts';
import type { SecretBox } from '../../platform/secrets/encryption-keys.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import { openCachedReading } from '../../platform/storage/row-cache.ts';
import type { AccessStores, ApiKey } from '../store.ts';

/*
 * Keeps the active keys in memory, so that a request needs no read. An instance that was not notified of a change continues
 * with the keys it has for MAX_AGE_MS, also while the database does not respond, and no longer.
 *
 * All keys are read at once, so that unknown keys, which anybody can send, cost no read each. Only some are looked up each
 * second: another instance may have made them a moment ago, and the notification of that is still under way.
 */

/** Maximum time for which an instance that was not notified may accept a revoked key. */
export const MAX_AGE_MS = 5000;

/** Each takes less than a millisecond. */
const LOOK_UPS_PER_SECOND = 100;

/** Pattern of key ids. Other texts are not looked up. */
const KEY_ID = /^key_[\w-]{1,64}$/;

export type KeyRingDeps = {
  readonly store: Pick<AccessStores, 'keys'> & { readonly changes: ChangeFeed };
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly secretBox: Pick<SecretBox, 'open'>;
};

type ActiveKey = {
  /** Undefined when no ENCRYPTION_KEY of this instance opens its secret. */
  readonly known: KnownKey | undefined;
  readonly expiresAt: number | null;
};

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
  let second = Number.NEGATIVE_INFINITY;
  let lookUps = 0;
  const lookUp = async (id: string): Promise<ActiveKey | undefined> => {
    const now = clock.monotonic();
    if (now - second >= 1000) [second, lookUps] = [now, 0];
    lookUps += 1;
    if (lookUps > LOOK_UPS_PER_SECOND) return undefined;
    const key = await store.keys.find(id);
    return key === undefined ? undefined : opened(key, deps.secretBox)[0]?.[1];
  };
  return {
    find: async (apiKey) => {
      if (!KEY_ID.test(apiKey)) return undefined;
      const found = (await active.current()).get(apiKey) ?? (await lookUp(apiKey));
      const isExpired = found !== undefined && found.expiresAt !== null && found.expiresAt <= clock.now();
      if (found === undefined || isExpired) return undefined;
      return found.known ?? cannotOpen(apiKey);
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

/** Lets the program try again: another instance may have the ENCRYPTION_KEY. The re-encryption logs that it is missing here. */
function cannotOpen(id: string): never {
  throw new ServiceError(
    'secret-unavailable',
    `The secret of the API key ${id} cannot be decrypted: this instance does not have the ENCRYPTION_KEY that it was stored with.`,
    {
      retryable: true,
      hint: { text: 'add that key to ENCRYPTION_KEY, after the current one, or make a new API key' },
    },
  );
}

function opened(
  { id, secret, scopes, rooms, limits, expiresAt }: ApiKey,
  box: KeyRingDeps['secretBox'],
): readonly (readonly [string, ActiveKey])[] {
  if (secret === null) return [];
  try {
    const caller = { keyId: id, scopes, rooms: rooms ?? undefined, limits: limits ?? undefined };
    return [[id, { known: { caller, secret: box.open(secret, id) }, expiresAt }]];
  } catch {
    return [[id, { known: undefined, expiresAt }]];
  }
}
