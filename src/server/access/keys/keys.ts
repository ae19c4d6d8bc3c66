import { SCOPES } from '../../../contract/choices.ts';
import { ServiceError } from '../../../contract/errors.ts';
import type { Key, KeyCreate, KeyList, KeyListQuery, OwnKey } from '../../../contract/keys.ts';
import { ROOT_KEY_ID } from '../../../contract/keys.ts';
import type { Clock, IdGenerator } from '../../platform/clock.ts';
import type { KeyLimits } from '../../platform/http/limits/key-limits.ts';
import { pageReader } from '../../platform/http/read-page.ts';
import { type Caller, secretIsGone } from '../../platform/http/route.ts';
import type { SecretBox } from '../../platform/secrets/encryption-keys.ts';
import type { SealedSecrets } from '../../platform/secrets/key-rotation.ts';
import type { AccessStores, ApiKey } from '../store.ts';

export type KeyDeps = {
  readonly store: Pick<AccessStores, 'keys'>;
  /** The store's clock, so that a key expires on all instances at once. */
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: IdGenerator;
  readonly secretBox: Pick<SecretBox, 'seal'>;
  readonly randomBytes: (count: number) => Uint8Array;
};

/** Prefix by which scanners for leaked secrets recognise the secret. */
const SECRET_PREFIX = 'rtcsk_';
const SECRET_BYTES = 32;
/** Maximum active keys, because every instance keeps all of them in memory. */
const MAX_ACTIVE_KEYS = 1000;
const DEFAULT_LIMIT = 50;

/** Creates a key. Only this response contains the secret. Throws conflict when there are too many keys. */
export async function createKey(deps: KeyDeps, { name, scopes, ttl }: KeyCreate): Promise<Key> {
  const secret = SECRET_PREFIX + Buffer.from(deps.randomBytes(SECRET_BYTES)).toString('base64url');
  const id = `key_${deps.ids.next()}`;
  const now = deps.clock.now();
  const key: ApiKey = {
    id,
    name,
    scopes: inOrder(scopes),
    secret: deps.secretBox.seal(secret, id),
    createdAt: now,
    expiresAt: ttl === undefined ? null : now + ttl * 1000,
    revokedAt: null,
  };
  if (await deps.store.keys.insertBelow(MAX_ACTIVE_KEYS, key)) return { ...toRecord(key, now), secret };
  throw new ServiceError('conflict', `There are already ${MAX_ACTIVE_KEYS} active API keys.`, {
    hint: { text: 'revoke keys that you do not need', command: 'rtc keys revoke ID' },
  });
}

const readPage = pageReader('keys');

/** Lists all keys, including expired ones. */
export async function listKeys({ store, clock }: KeyDeps, query: KeyListQuery): Promise<KeyList> {
  const { limit = DEFAULT_LIMIT, cursor } = query;
  const { rows, nextCursor } = await readPage({ cursor, limit }, store.keys.list);
  const now = clock.now();
  return { keys: rows.map((key) => toRecord(key, now)), nextCursor };
}

/** Returns a key. Throws key-not-found. */
export async function getKey({ store, clock }: KeyDeps, id: string): Promise<Key> {
  const key = await store.keys.find(id);
  if (key === undefined) throw keyNotFound(id);
  return toRecord(key, clock.now());
}

/** Throws conflict when the key that an earlier request created is no longer active. */
export async function ensureActive({ store, clock }: KeyDeps, id: string): Promise<void> {
  const key = await store.keys.find(id);
  const status = key === undefined ? 'removed' : toRecord(key, clock.now()).status;
  if (status !== 'active') throw secretIsGone(`the API key ${id}, which is ${status}`);
}

/** Returns the key that signed the request, and what it has of what it may have. */
export async function getOwnKey(
  { store, keyLimits }: Pick<KeyDeps, 'store'> & { readonly keyLimits: Pick<KeyLimits, 'read'> },
  caller: Caller,
): Promise<OwnKey> {
  const { keyId, scopes } = caller;
  // The root key has no limits, and is known without the database.
  if (scopes === undefined) {
    return { id: ROOT_KEY_ID, name: ROOT_KEY_ID, isRoot: true, scopes: [...SCOPES], expiresAt: null };
  }
  const key = await store.keys.find(keyId);
  if (key === undefined) throw keyNotFound(keyId);
  const { id, name, expiresAt } = key;
  const limits = await keyLimits.read(keyId);
  return { id, name, isRoot: false, scopes: [...scopes], expiresAt: toInstant(expiresAt), limits };
}

/** Revokes a key, which is rejected from now on. A second call changes nothing. Throws key-not-found. */
export async function revokeKey({ store, clock }: KeyDeps, id: string): Promise<void> {
  if (!(await store.keys.revoke(id, clock.now()))) throw keyNotFound(id);
}

/** The secrets of active keys, for a rotation of ENCRYPTION_KEY. */
export const SEALED_KEY_SECRETS: SealedSecrets<Pick<AccessStores, 'keys'>> = {
  name: 'apiKeys',
  list: async ({ keys }, now) =>
    (await keys.listActive(now)).flatMap(({ id, secret }) =>
      secret === null ? [] : [{ id, sealed: [secret], replace: replaceSecret({ id, secret }) }],
    ),
};

function replaceSecret(key: Pick<ApiKey, 'id' | 'secret'>) {
  return async ({ keys }: Pick<AccessStores, 'keys'>, [sealed = '']: readonly string[]): Promise<boolean> =>
    await keys.replaceSecret(key, sealed);
}

function toRecord({ id, name, scopes, createdAt, expiresAt, revokedAt }: ApiKey, now: number): Key {
  return {
    id,
    name,
    scopes: [...scopes],
    status: revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now ? 'expired' : 'active',
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: toInstant(expiresAt),
    revokedAt: toInstant(revokedAt),
  };
}

function inOrder(scopes: KeyCreate['scopes']): KeyCreate['scopes'] {
  return SCOPES.filter((scope) => scopes.includes(scope));
}

function toInstant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function keyNotFound(id: string): ServiceError {
  return new ServiceError('key-not-found', `No API key has the id ${JSON.stringify(id)}.`);
}
