import { type Kysely, sql } from 'kysely';
import type { Connection, Tables } from '../schema/tables.ts';
import type { IdempotencyStore, IdempotentRequest } from './store.ts';

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
    purge: async (now, limit) => {
      const expired = db
        .selectFrom('idempotentRequests')
        .select('id')
        .where('expiresAt', '<=', now)
        .orderBy('expiresAt')
        .limit(limit);
      const { numDeletedRows } = await db
        .deleteFrom('idempotentRequests')
        // Repeats the condition, so that a row that was taken over in the meantime is kept.
        .where('expiresAt', '<=', now)
        .where('id', 'in', expired)
        .executeTakeFirst();
      return Number(numDeletedRows);
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
