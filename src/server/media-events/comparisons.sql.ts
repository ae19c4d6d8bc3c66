import { sql } from 'kysely';
import type { Connection } from '../schema/tables.ts';
import type { ComparisonStore } from './stores.ts';

/** Longer than the lease of a comparison (3 s). One that ends later was taken before the clock was set back. */
const LONGEST_LEASE_MS = 10_000;
/** Name of the only row of the table. */
const NAME = 'all';

export function createComparisonStore({ db }: Connection): ComparisonStore {
  return {
    begin: async ({ owner, until }, now) => {
      const begun = await sql<{ number: number }>`
        insert into comparisons (name, owner, "leaseUntil", number, completed)
        values (${NAME}, ${owner}, ${until}, 1, 0)
        on conflict (name) do update set owner = excluded.owner, "leaseUntil" = excluded."leaseUntil",
          number = comparisons.number + 1
        where comparisons.owner is null or comparisons.owner = excluded.owner
          or comparisons."leaseUntil" <= ${now} or comparisons."leaseUntil" > ${now + LONGEST_LEASE_MS}
        returning number`.execute(db);
      return begun.rows[0]?.number;
    },
    renew: async ({ owner, number }, until) => {
      const renewed = await db
        .updateTable('comparisons')
        .set({ leaseUntil: until })
        .where('owner', '=', owner)
        .where('number', '=', number)
        .executeTakeFirst();
      return renewed.numUpdatedRows === 1n;
    },
    end: async ({ owner, number }, outcome) => {
      await db
        .updateTable('comparisons')
        .set({ owner: null, ...(outcome === 'completed' && { completed: number }) })
        .where('owner', '=', owner)
        .where('number', '=', number)
        .execute();
    },
    numbers: async () => {
      const row = await db.selectFrom('comparisons').select(['number', 'completed']).executeTakeFirst();
      return { begun: row?.number ?? 0, completed: row?.completed ?? 0 };
    },
  };
}
