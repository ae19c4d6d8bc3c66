import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { AuditResult, Scope } from '../../contract/choices.ts';
import type { OwnLimits } from '../../contract/keys.ts';
import { columnList, isBehind, purgeRows, withinRooms } from '../platform/storage/statements.ts';
import type { ApiKeyRow, AuditRow, Connection, Tables } from '../schema/tables.ts';
import type {
  ApiKey,
  AuditQuery,
  AuditRecord,
  AuditStore,
  IdempotencyStore,
  IdempotentRequest,
  KeyPage,
  KeyStore,
  KeyUse,
} from './store.ts';

export function createKeyStore(connection: Connection): KeyStore {
  const { db, changes } = connection;
  /** After a change, instances drop their cached keys. */
  const noteChange = (rows: bigint): boolean => {
    if (rows > 0n) changes.note(db, 'keys');
    return rows > 0n;
  };
  return {
    insertBelow: async (limit, key) => noteChange(await insertBelow(connection, limit, toKeyRow(key))),
    find: async (id) => {
      const row = await db.selectFrom('apiKeys').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toKey(row);
    },
    list: (page) => listKeys(connection, page),
    listActive: async (now) => {
      const rows = await db.selectFrom('apiKeys').selectAll().where(isActiveAt(now)).execute();
      return rows.map(toKey);
    },
    revoke: async (id, now) => {
      const { numUpdatedRows } = await db
        .updateTable('apiKeys')
        .set({ secret: null, revokedAt: sql`coalesce("revokedAt", ${now})` })
        .where('id', '=', id)
        .executeTakeFirst();
      return noteChange(numUpdatedRows);
    },
    // No instance has to read its keys again: nothing that it knows of them has changed.
    noteUses: (uses) => noteUses(connection, uses),
    replaceSecret: async ({ id, secret: current }, secret) => {
      const { numUpdatedRows } = await db
        .updateTable('apiKeys')
        .set({ secret })
        .where('id', '=', id)
        .where('secret', '=', current)
        .executeTakeFirst();
      return noteChange(numUpdatedRows);
    },
    purge: (before, limit) => {
      const where = sql`("revokedAt" < ${before} or "expiresAt" < ${before})`;
      return purgeRows(db, { table: 'apiKeys', key: ['id'], where, limit });
    },
  };
}

const KEY_COLUMNS = {
  id: 'text',
  name: 'text',
  scopes: 'text',
  rooms: 'text',
  limits: 'text',
  secret: 'text',
  createdAt: 'integer',
  expiresAt: 'integer',
  revokedAt: 'integer',
  lastUsedAt: 'integer',
} as const satisfies Record<keyof ApiKeyRow, 'text' | 'integer'>;

/**
 * Inserts a key below the limit, which keeps the list in the memory of instances short. Two concurrent inserts may exceed it
 * by one.
 */
async function insertBelow({ db, dialect }: Connection, limit: number, row: ApiKeyRow): Promise<bigint> {
  const columns = columnList(Object.keys(KEY_COLUMNS));
  const inserted = await sql`
    insert into ${sql.table('apiKeys')} (${columns})
    select ${columns} from ${dialect.rows([row], KEY_COLUMNS)} as listed
    where (
      select count(*) from ${sql.table('apiKeys')}
      where "revokedAt" is null and ("expiresAt" is null or "expiresAt" > ${row.createdAt})
    ) < ${limit} returning id`.execute(db);
  return BigInt(inserted.rows.length);
}

async function noteUses({ db, dialect }: Connection, uses: readonly KeyUse[]): Promise<void> {
  const used = dialect.rows(uses, { id: 'text', lastUsedAt: 'integer' });
  await sql`
    update ${sql.table('apiKeys')} set "lastUsedAt" = used."lastUsedAt" from ${used} as used
    where ${sql.table('apiKeys')}.id = used.id
      and coalesce(${sql.table('apiKeys')}."lastUsedAt", 0) < used."lastUsedAt"`.execute(db);
}

function isActiveAt(now: number) {
  return (row: ExpressionBuilder<Tables, 'apiKeys'>) =>
    row.and([
      row('revokedAt', 'is', null),
      row.or([row('expiresAt', 'is', null), row('expiresAt', '>', now)]),
    ]);
}

async function listKeys({ db }: Connection, { after, limit }: KeyPage): Promise<readonly ApiKey[]> {
  let query = db.selectFrom('apiKeys').selectAll().orderBy('createdAt').orderBy('id');
  query = query.where(isBehind(['createdAt', 'id'], '>', after && [after.createdAt, after.id]));
  return (await query.limit(limit).execute()).map(toKey);
}

function toKey(row: ApiKeyRow): ApiKey {
  return {
    ...row,
    scopes: JSON.parse(row.scopes) as readonly Scope[],
    rooms: row.rooms === null ? null : (JSON.parse(row.rooms) as readonly string[]),
    limits: row.limits === null ? null : (JSON.parse(row.limits) as OwnLimits),
  };
}

function toKeyRow(key: ApiKey): ApiKeyRow {
  const { scopes, rooms, limits } = key;
  return {
    ...key,
    scopes: JSON.stringify(scopes),
    rooms: rooms && JSON.stringify(rooms),
    limits: limits && JSON.stringify(limits),
  };
}

type Database = Kysely<Tables>;

export function createIdempotencyStore({ db }: Connection): IdempotencyStore {
  return {
    claim: (request, now) => claim(db, request, now),
    renew: async ({ id, owner, leaseUntil }) => {
      const { numUpdatedRows } = await db
        .updateTable('idempotentRequests')
        .set({ leaseUntil })
        .where('id', '=', id)
        .where('owner', '=', owner)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    complete: async ({ id, owner, response, expiresAt }) => {
      await db
        .updateTable('idempotentRequests')
        .set({ response, expiresAt })
        .where('id', '=', id)
        .where('owner', '=', owner)
        .execute();
    },
    release: async (id, owner) => {
      await db.deleteFrom('idempotentRequests').where('id', '=', id).where('owner', '=', owner).execute();
    },
    purge: (now, limit) => {
      const where = sql`"expiresAt" <= ${now}`;
      return purgeRows(db, { table: 'idempotentRequests', key: ['id'], where, by: 'expiresAt', limit });
    },
  };
}

async function claim(db: Database, request: IdempotentRequest, now: number): Promise<IdempotentRequest> {
  for (;;) {
    const { id, fingerprint, owner, leaseUntil, expiresAt } = request;
    const claimed = await sql`
      insert into ${sql.table('idempotentRequests')} as held
        (id, fingerprint, owner, "leaseUntil", response, "expiresAt")
      values (${id}, ${fingerprint}, ${owner}, ${leaseUntil}, null, ${expiresAt})
      on conflict (id) do update set
        fingerprint = excluded.fingerprint, owner = excluded.owner, "leaseUntil" = excluded."leaseUntil",
        response = null, "expiresAt" = excluded."expiresAt"
      where held."expiresAt" <= ${now} or (
        held.response is null and held."leaseUntil" <= ${now} and held.fingerprint = excluded.fingerprint
      )
      returning id`.execute(db);
    if (claimed.rows.length === 1) return request;
    const held = await db
      .selectFrom('idempotentRequests')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    // The row may have been released since.
    if (held !== undefined) return held;
  }
}

export function createAuditStore({ db, dialect }: Pick<Connection, 'db' | 'dialect'>): AuditStore {
  const columns = columnList(Object.keys(ENTRY_COLUMNS));
  return {
    append: async (records) => {
      // A batch whose commit succeeded while its response was lost is sent again.
      await sql`
        insert into ${sql.table('auditEntries')} (${columns})
        select ${columns} from ${dialect.rows(records.map(toEntryRow), ENTRY_COLUMNS)} as listed where true
        on conflict (id) do nothing`.execute(db);
    },
    list: (query) => listAudit({ db, dialect }, query),
    purge: (before, limit) => {
      const where = sql`"occurredAt" < ${before}`;
      return purgeRows(db, { table: 'auditEntries', key: ['id'], where, by: 'occurredAt', limit });
    },
    purgeExpired: (now, limit) =>
      purgeRows(db, { table: 'auditEntries', key: ['id'], where: sql`"expiresAt" < ${now}`, limit }),
  };
}

const ENTRY_COLUMNS = {
  id: 'text',
  occurredAt: 'integer',
  keyId: 'text',
  method: 'text',
  path: 'text',
  ids: 'text',
  room: 'text',
  address: 'text',
  requestId: 'text',
  status: 'integer',
  problem: 'text',
  expiresAt: 'integer',
} as const satisfies Record<keyof AuditRow, 'text' | 'integer'>;

/** Statuses of a result; the upper bound is excluded. */
const STATUSES: Readonly<Record<AuditResult, readonly [from: number, below: number]>> = {
  done: [0, 400],
  refused: [400, 500],
  failed: [500, 1000],
};

async function listAudit(
  { db, dialect }: Pick<Connection, 'db' | 'dialect'>,
  query: AuditQuery,
): Promise<readonly AuditRecord[]> {
  const { key, room, rooms, requestId, since, until, result, before, limit } = query;
  let select = db.selectFrom('auditEntries').selectAll();
  if (key !== undefined) select = select.where('keyId', '=', key);
  if (room !== undefined) select = select.where('room', '=', room);
  if (rooms !== undefined) {
    const listed = { table: 'auditEntries', key: 'id', room: 'room' };
    select = select.where((await withinRooms({ db, dialect }, listed, rooms)).condition);
  }
  select =
    requestId === undefined
      ? select.where('expiresAt', 'is', null)
      : select.where('requestId', '=', requestId);
  if (since !== undefined) select = select.where('occurredAt', '>=', since);
  if (until !== undefined) select = select.where('occurredAt', '<', until);
  if (result !== undefined) {
    const [from, below] = STATUSES[result];
    select = select.where('status', '>=', from).where('status', '<', below);
  }
  select = select.where(isBehind(['occurredAt', 'id'], '<', before && [before.occurredAt, before.id]));
  const rows = await select.orderBy('occurredAt', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map((row) => ({ ...row, ids: JSON.parse(row.ids) as AuditRecord['ids'] }));
}

function toEntryRow(record: AuditRecord): AuditRow {
  return { ...record, ids: JSON.stringify(record.ids) };
}
