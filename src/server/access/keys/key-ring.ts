import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FindKey, KnownKey } from '../../platform/http/authentication/authenticate-request.ts';
import { startLoop } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';
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
 *
 * When a key was used last is kept to the minute. Requests only note it in memory; one statement a minute stores it for all
 * keys that were used, and none while no key is. A kill loses the last minute.
 */

/** Maximum time for which an instance that was not notified may accept a revoked key. */
export const MAX_AGE_MS = 5000;

/** Each takes less than a millisecond. */
const LOOK_UPS_PER_SECOND = 100;

const MINUTE_MS = 60_000;

/** Pattern of key ids. Other texts are not looked up. */
const KEY_ID = /^key_[\w-]{1,64}$/;

export type KeyRingDeps = {
  readonly store: Pick<AccessStores, 'keys'> & { readonly changes: ChangeFeed };
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly secretBox: Pick<SecretBox, 'open'>;
  readonly log: Pick<Log, 'warn'>;
};

type ActiveKey = {
  /** Undefined when no ENCRYPTION_KEY of this instance opens its secret. */
  readonly known: KnownKey | undefined;
  readonly expiresAt: number | null;
};

export type KeyRing = {
  readonly find: FindKey;
  /** Notes that the key has signed a request. */
  readonly noteUse: (keyId: string) => void;
  /** Returns when the key was used last, though this instance may not have stored it yet. */
  readonly findLastUse: (key: Pick<ApiKey, 'id' | 'lastUsedAt'>) => number | null;
  /** Stores what was noted, if the database responds. */
  readonly close: () => Promise<void>;
};

export function openKeyRing(deps: KeyRingDeps): KeyRing {
  const { store, clock } = deps;
  const active = openCachedReading({
    store,
    clock,
    topic: 'keys',
    read: () => readActive(deps, clock.now()),
    maxAgeMs: MAX_AGE_MS,
  });
  const uses = noteUses(deps);
  let second = Number.NEGATIVE_INFINITY;
  let lookUps = 0;
  const lookUp = async (id: string): Promise<ActiveKey | undefined> => {
    const now = clock.monotonic();
    if (now - second >= 1000) [second, lookUps] = [now, 0];
    lookUps += 1;
    if (lookUps > LOOK_UPS_PER_SECOND) return undefined;
    const key = await store.keys.find(id);
    return key === undefined ? undefined : openKey(key, deps.secretBox)[0]?.[1];
  };
  return {
    find: async (apiKey) => {
      if (!KEY_ID.test(apiKey)) return undefined;
      const found = (await active.current()).get(apiKey) ?? (await lookUp(apiKey));
      const isExpired = found !== undefined && found.expiresAt !== null && found.expiresAt <= clock.now();
      if (found === undefined || isExpired) return undefined;
      return found.known ?? cannotOpen(apiKey);
    },
    noteUse: uses.note,
    findLastUse: uses.findLast,
    close: async () => {
      active.close();
      await uses.close();
    },
  };
}

function noteUses({ store, clock, log }: KeyRingDeps) {
  /** The minutes of the last uses that are not stored yet. */
  const noted = new Map<string, number>();
  const storeNoted = async (): Promise<number | undefined> => {
    const uses = [...noted].map(([id, lastUsedAt]) => ({ id, lastUsedAt }));
    if (uses.length === 0) return undefined;
    await store.keys.noteUses(uses);
    for (const { id, lastUsedAt } of uses) if (noted.get(id) === lastUsedAt) noted.delete(id);
    return noted.size === 0 ? undefined : MINUTE_MS;
  };
  const loop = startLoop({
    clock,
    log,
    round: storeNoted,
    failureMessage: 'storing when API keys were used failed; trying again',
  });
  return {
    note: (keyId: string): void => {
      if (noted.size === 0) loop.wakeWithin(MINUTE_MS);
      noted.set(keyId, Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS);
    },
    findLast: ({ id, lastUsedAt }: Pick<ApiKey, 'id' | 'lastUsedAt'>): number | null => {
      const here = noted.get(id);
      return here === undefined ? lastUsedAt : Math.max(here, lastUsedAt ?? 0);
    },
    close: async (): Promise<void> => {
      await loop.close();
      await storeNoted().catch((err: unknown) => log.warn({ err }, 'when API keys were used is not stored'));
    },
  };
}

async function readActive(
  { store, secretBox }: KeyRingDeps,
  now: number,
): Promise<ReadonlyMap<string, ActiveKey>> {
  const keys = await store.keys.listActive(now);
  return new Map(keys.flatMap((key) => openKey(key, secretBox)));
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

function openKey(
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
