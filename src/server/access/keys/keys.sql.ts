import { type ExpressionBuilder, sql } from 'kysely';
import type { Scope } from '../../../contract/choices.ts';
import { columnList } from '../../platform/storage/statements.ts';
import type { ApiKeyRow, Connection, Tables } from '../../schema/tables.ts';
import type { ApiKey, KeyPage, KeyStore } from '../store.ts';

export function createKeyStore(connection: Connection): KeyStore {
  const { db, changes } = connection;
  /** After a change, instances drop their cached keys. */
  const noteChange = (rows: bigint): boolean => {
    if (rows > 0n) changes.note(db, 'keys');
    return rows > 0n;
  };
  return {
    insertBelow: async (limit, key) => noteChange(await insertBelow(connection, limit, toRow(key))),
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
    replaceSecret: async ({ id, secret: current }, secret) => {
      const { numUpdatedRows } = await db
        .updateTable('apiKeys')
        .set({ secret })
        .where('id', '=', id)
        .where('secret', '=', current)
        .executeTakeFirst();
      return noteChange(numUpdatedRows);
    },
    purge: async (before, limit) => {
      const ended = db
        .selectFrom('apiKeys')
        .select('id')
        .where((row) => row.or([row('revokedAt', '<', before), row('expiresAt', '<', before)]))
        .limit(limit);
      const { numDeletedRows } = await db.deleteFrom('apiKeys').where('id', 'in', ended).executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

const COLUMNS = {
  id: 'text',
  name: 'text',
  scopes: 'text',
  secret: 'text',
  createdAt: 'integer',
  expiresAt: 'integer',
  revokedAt: 'integer',
} as const satisfies Record<keyof ApiKeyRow, 'text' | 'integer'>;

/**
 * Inserts a key below the limit, which keeps the list in the memory of instances short. Two concurrent inserts may exceed it
 * by one.
 */
async function insertBelow({ db, dialect }: Connection, limit: number, row: ApiKeyRow): Promise<bigint> {
  const columns = columnList(Object.keys(COLUMNS));
  const inserted = await sql`
    insert into ${sql.table('apiKeys')} (${columns})
    select ${columns} from ${dialect.rows([row], COLUMNS)} as listed
    where (
      select count(*) from ${sql.table('apiKeys')}
      where "revokedAt" is null and ("expiresAt" is null or "expiresAt" > ${row.createdAt})
    ) < ${limit} returning id`.execute(db);
  return BigInt(inserted.rows.length);
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
  if (after !== undefined) {
    query = query.where(sql<boolean>`("createdAt", id) > (${after.createdAt}, ${after.id})`);
  }
  return (await query.limit(limit).execute()).map(toKey);
}

function toKey(row: ApiKeyRow): ApiKey {
  return { ...row, scopes: JSON.parse(row.scopes) as readonly Scope[] };
}

function toRow(key: ApiKey): ApiKeyRow {
  return { ...key, scopes: JSON.stringify(key.scopes) };
}
