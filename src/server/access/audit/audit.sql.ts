import { type Kysely, sql } from 'kysely';
import type { AuditResult } from '../../../contract/choices.ts';
import { columnList } from '../../platform/storage/statements.ts';
import type { AuditRow, Connection, Tables } from '../../schema/tables.ts';
import type { AuditQuery, AuditRecord, AuditStore } from '../store.ts';

export function createAuditStore({ db, dialect }: Pick<Connection, 'db' | 'dialect'>): AuditStore {
  const columns = columnList(Object.keys(COLUMNS));
  return {
    append: async (records) => {
      // A batch whose commit succeeded while its response was lost is sent again.
      await sql`
        insert into ${sql.table('auditEntries')} (${columns})
        select ${columns} from ${dialect.rows(records.map(toRow), COLUMNS)} as listed where true
        on conflict (id) do nothing`.execute(db);
    },
    list: (query) => listAudit(db, query),
    purge: async (before, limit) => {
      const old = db
        .selectFrom('auditEntries')
        .select('id')
        .where('occurredAt', '<', before)
        .orderBy('occurredAt')
        .limit(limit);
      const { numDeletedRows } = await db
        .deleteFrom('auditEntries')
        .where('id', 'in', old)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
    purgeExpired: async (now, limit) => {
      const expired = db.selectFrom('auditEntries').select('id').where('expiresAt', '<', now).limit(limit);
      const { numDeletedRows } = await db
        .deleteFrom('auditEntries')
        .where('id', 'in', expired)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

const COLUMNS = {
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

async function listAudit(db: Kysely<Tables>, query: AuditQuery): Promise<readonly AuditRecord[]> {
  const { key, room, requestId, since, until, result, before, limit } = query;
  let select = db.selectFrom('auditEntries').selectAll();
  if (key !== undefined) select = select.where('keyId', '=', key);
  if (room !== undefined) select = select.where('room', '=', room);
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
  if (before !== undefined) {
    select = select.where((row) =>
      row(row.refTuple('occurredAt', 'id'), '<', row.tuple(before.occurredAt, before.id)),
    );
  }
  const rows = await select.orderBy('occurredAt', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map((row) => ({ ...row, ids: JSON.parse(row.ids) as AuditRecord['ids'] }));
}

function toRow(record: AuditRecord): AuditRow {
  return { ...record, ids: JSON.stringify(record.ids) };
}
