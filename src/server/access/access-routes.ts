import { type AuditEntry, type AuditList, AuditListQuery, AuditListSchema } from '../../contract/audit.ts';
import { type AuditResult, SCOPES } from '../../contract/choices.ts';
import { ServiceError } from '../../contract/errors.ts';
import {
  type Key,
  type KeyCreate,
  KeyCreateSchema,
  type KeyList,
  KeyListQuery,
  KeyListSchema,
  KeyParams,
  KeySchema,
  type OwnKey,
  OwnKeySchema,
  ROOM_LIMITS,
  ROOT_KEY_ID,
} from '../../contract/keys.ts';
import { type Clock, type IdGenerator, toInstant } from '../platform/clock.ts';
import type { KeyLimits } from '../platform/http/limits/key-limits.ts';
import { type OfRooms, pageReader } from '../platform/http/read-page.ts';
import { refusedField } from '../platform/http/refusals.ts';
import {
  type Caller,
  chooseRenamed,
  defineRoute,
  type Route,
  requireCaller,
  secretIsGone,
} from '../platform/http/route.ts';
import type { SecretBox } from '../platform/secrets/encryption-keys.ts';
import type { SealedSecrets } from '../platform/secrets/key-rotation.ts';
import { sanitizeText } from '../platform/storage/statements.ts';
import type { AuditWriter } from './audit/audit-writer.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { AccessStores, ApiKey, AuditRecord } from './store.ts';

const COLLECTION = '/v1/keys';

const BY_ID = '/v1/keys/:keyId';

export type KeyRouteDeps = KeyDeps & Parameters<typeof getOwnKey>[0];

export function keyRoutes(deps: KeyRouteDeps): readonly Route[] {
  return [
    creationRoute(deps),
    defineRoute({
      method: 'GET',
      path: COLLECTION,
      operationId: 'listKeys',
      tag: 'keys',
      summary: 'List the API keys',
      description:
        'Lists keys without their secrets. Revoked and expired keys are listed for as long as audit entries are kept.',
      scopes: 'root',
      query: KeyListQuery,
      success: { 200: { description: 'The keys', schema: KeyListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query }) => ({ status: 200, body: await listKeys(deps, query) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/keys/self',
      operationId: 'getOwnKey',
      tag: 'keys',
      summary: 'Show the key that signed this request, and what it may do',
      scopes: 'any',
      ofRooms: 'filtered',
      success: { 200: { description: 'The key of this request', schema: OwnKeySchema } },
      errors: ['key-not-found', 'storage-unavailable'],
      handle: async ({ caller }) => ({ status: 200, body: await getOwnKey(deps, requireCaller(caller)) }),
    }),
    defineRoute({
      method: 'GET',
      path: BY_ID,
      operationId: 'getKey',
      tag: 'keys',
      summary: 'Read one API key',
      scopes: 'root',
      params: KeyParams,
      success: { 200: { description: 'The key, without its secret', schema: KeySchema } },
      errors: ['key-not-found', 'storage-unavailable'],
      handle: async ({ params }) => ({ status: 200, body: await getKey(deps, params.keyId) }),
    }),
    revocationRoute(deps),
  ];
}

function creationRoute(deps: KeyDeps): Route {
  return defineRoute({
    method: 'POST',
    path: COLLECTION,
    operationId: 'createKey',
    tag: 'keys',
    summary: 'Create an API key',
    description:
      'Callers send its id as X-Api-Key and sign with its secret. Only this response has the secret.',
    scopes: 'root',
    body: KeyCreateSchema,
    success: { 201: { description: 'The key, with its secret', schema: KeySchema } },
    errors: ['conflict', 'storage-unavailable'],
    handle: async ({ body }) => {
      const key = await createKey(deps, body);
      return { status: 201, body: key, ids: { keyId: key.id } };
    },
    checkRepeated: async ({ body }) => await ensureActive(deps, (body as Key).id),
  });
}

function revocationRoute(deps: KeyDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: BY_ID,
    operationId: 'revokeKey',
    tag: 'keys',
    summary: 'Revoke an API key',
    description:
      'This instance refuses the key at once, the others within 5 s. The key stays in the list, without its secret.',
    scopes: 'root',
    params: KeyParams,
    success: { 204: { description: 'The key is revoked' } },
    errors: ['key-not-found', 'storage-unavailable'],
    handle: async ({ params }) => {
      await revokeKey(deps, params.keyId);
      return { status: 204 };
    },
  });
}

type KeyDeps = {
  readonly store: Pick<AccessStores, 'keys'>;
  /** The store's clock, so that a key expires on all instances at once. */
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: IdGenerator;
  readonly secretBox: Pick<SecretBox, 'seal'>;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly keyRing: Pick<KeyRing, 'findLastUse'>;
};

/** Prefix by which scanners for leaked secrets recognise the secret. */
const SECRET_PREFIX = 'rtcsk_';

const SECRET_BYTES = 32;

/** Maximum active keys, because every instance keeps all of them in memory. */
const MAX_ACTIVE_KEYS = 1000;

/** Creates a key. Only this response contains the secret. Throws conflict when there are too many keys. */
async function createKey(deps: KeyDeps, { name, scopes, rooms, limits, ttl }: KeyCreate): Promise<Key> {
  refuseUncountable(rooms, limits);
  const secret = SECRET_PREFIX + Buffer.from(deps.randomBytes(SECRET_BYTES)).toString('base64url');
  const id = `key_${deps.ids.next()}`;
  const now = deps.clock.now();
  const key: ApiKey = {
    id,
    name,
    scopes: inOrder(scopes),
    rooms: rooms === undefined ? null : rooms.map(sanitizeText).toSorted(),
    limits: limits ?? null,
    secret: deps.secretBox.seal(secret, id),
    createdAt: now,
    expiresAt: ttl === undefined ? null : now + ttl * 1000,
    revokedAt: null,
    lastUsedAt: null,
  };
  if (await deps.store.keys.insertBelow(MAX_ACTIVE_KEYS, key)) return { ...toRecord(key, now), secret };
  throw new ServiceError('conflict', `There are already ${MAX_ACTIVE_KEYS} active API keys.`, {
    hint: { text: 'revoke keys that you do not need', command: 'rtc keys revoke ID' },
  });
}

/** Throws invalid-request for a limit that counts what is in the rooms of a key which has all rooms. */
function refuseUncountable(rooms: KeyCreate['rooms'], limits: KeyCreate['limits']): void {
  const kind = ROOM_LIMITS.find((one) => limits?.[one] !== undefined);
  if (rooms !== undefined || kind === undefined) return;
  throw refusedField(`#/limits/${kind}`, 'needs #/rooms, because it counts what is in them');
}

const readKeys = pageReader('keys');

/** Lists all keys, including expired ones. */
async function listKeys({ store, clock, keyRing }: KeyDeps, query: KeyListQuery): Promise<KeyList> {
  const { rows, nextCursor } = await readKeys(query, store.keys.list);
  const now = clock.now();
  return { keys: rows.map((key) => toRecord(withLastUse(keyRing, key), now)), nextCursor };
}

/** Returns a key. Throws key-not-found. */
async function getKey({ store, clock, keyRing }: KeyDeps, id: string): Promise<Key> {
  const key = await store.keys.find(id);
  if (key === undefined) throw keyNotFound(id);
  return toRecord(withLastUse(keyRing, key), clock.now());
}

/** Throws conflict when the key that an earlier request created is no longer active. */
async function ensureActive({ store, clock }: KeyDeps, id: string): Promise<void> {
  const key = await store.keys.find(id);
  const status = key === undefined ? 'removed' : toRecord(key, clock.now()).status;
  if (status !== 'active') throw secretIsGone(`the API key ${id}`, `is ${status}`);
}

/** Returns the key that signed the request, and what it has of what it may have. */
async function getOwnKey(
  { store, keyLimits }: Pick<KeyDeps, 'store'> & { readonly keyLimits: Pick<KeyLimits, 'read'> },
  caller: Caller,
): Promise<OwnKey> {
  const { keyId, scopes, rooms = null } = caller;
  // The root key has no limits, and is known without the database.
  if (scopes === undefined) {
    const root = { id: ROOT_KEY_ID, name: ROOT_KEY_ID, isRoot: true, scopes: [...SCOPES] };
    return { ...root, rooms: null, expiresAt: null };
  }
  const key = await store.keys.find(keyId);
  if (key === undefined) throw keyNotFound(keyId);
  const { id, name, expiresAt } = key;
  const limits = await keyLimits.read(caller);
  return {
    id,
    name,
    isRoot: false,
    scopes: [...scopes],
    rooms: rooms && [...rooms],
    expiresAt: toInstant(expiresAt),
    limits,
  };
}

/** Revokes a key, so that it is rejected from now on. A second call changes nothing. Throws key-not-found. */
async function revokeKey({ store, clock }: KeyDeps, id: string): Promise<void> {
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

/** This instance may know of a use that it has not stored yet. */
function withLastUse(keyRing: KeyDeps['keyRing'], key: ApiKey): ApiKey {
  return { ...key, lastUsedAt: keyRing.findLastUse(key) };
}

function toRecord(
  { id, name, scopes, rooms, limits, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey,
  now: number,
): Key {
  return {
    id,
    name,
    scopes: [...scopes],
    rooms: rooms && [...rooms],
    limits,
    status: revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now ? 'expired' : 'active',
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: toInstant(expiresAt),
    revokedAt: toInstant(revokedAt),
    lastUsedAt: toInstant(lastUsedAt),
  };
}

function inOrder(scopes: KeyCreate['scopes']): KeyCreate['scopes'] {
  return SCOPES.filter((scope) => scopes.includes(scope));
}

function keyNotFound(id: string): ServiceError {
  return new ServiceError('key-not-found', `No API key has the id ${JSON.stringify(id)}.`);
}

export function auditRoutes(deps: AuditDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'audit',
      summary: 'List who changed what',
      description:
        'Lists every request with a valid signature that changed something or tried to, refused ones too. Requests for tokens are not listed, unless the API key lacked the scope. Entries have no bodies. Failed reads and tokens are found by their `requestId` for an hour.',
      scopes: ['admin'],
      ofRooms: 'filtered',
      query: AuditListQuery,
      success: { 200: { description: 'Entries, newest first', schema: AuditListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query, caller }) => ({
        status: 200,
        body: await listAudit(deps, { ...query, rooms: caller?.rooms }),
      }),
    }),
  ];
}

export type AuditDeps = {
  readonly store: Pick<AccessStores, 'audit'>;
  readonly auditWriter: Pick<AuditWriter, 'flush'>;
};

const readEntries = pageReader('audit');

/** Lists audit entries, the newest first. Requests to which this instance has responded are included. */
async function listAudit(
  { store, auditWriter }: AuditDeps,
  query: OfRooms<AuditListQuery>,
): Promise<AuditList> {
  const { cursor, limit, since, until, result, requestId } = query;
  const key = chooseRenamed(query, { name: 'keyId', earlier: 'key' });
  const room = chooseRenamed(query, { name: 'roomId', earlier: 'room' });
  const { rows, nextCursor } = await readEntries({ cursor, limit }, async (page) => {
    await auditWriter.flush();
    const records = await store.audit.list({
      key,
      room,
      rooms: query.rooms,
      result,
      requestId,
      since: since === undefined ? undefined : Date.parse(since),
      until: until === undefined ? undefined : Date.parse(until),
      before: page.after && { occurredAt: page.after.createdAt, id: page.after.id },
      limit: page.limit,
    });
    return records.map((record) => ({ createdAt: record.occurredAt, id: record.id, record }));
  });
  return { entries: rows.map(({ record }) => toEntry(record)), nextCursor };
}

function toEntry({
  room: _room,
  expiresAt: _expiresAt,
  occurredAt,
  status,
  ids,
  ...rest
}: AuditRecord): AuditEntry {
  return {
    ...rest,
    ids: { ...ids },
    occurredAt: new Date(occurredAt).toISOString(),
    status,
    result: toResult(status),
  };
}

function toResult(status: number): AuditResult {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'done';
}
