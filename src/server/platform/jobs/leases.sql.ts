import { sql } from 'kysely';
import type { Connection } from '../storage/engine.ts';
import type { LeaseStore } from './leases.ts';

/** Longer than any lease. A lease that ends later was taken before the clock was set back. */
const LONGEST_LEASE_MS = 600_000;

export function createLeaseStore({ db }: Connection): LeaseStore {
  return {
    acquire: async ({ name, owner, until, onTakeover }, now) => {
      const held = db
        .selectFrom('leases')
        .select('owner')
        .where('name', '=', name)
        .where('owner', '<>', owner);
      const former = onTakeover && (await held.executeTakeFirst());
      const acquired = await sql`
        insert into leases (name, owner, "leaseUntil") values (${name}, ${owner}, ${until})
        on conflict (name) do update set owner = excluded.owner, "leaseUntil" = excluded."leaseUntil"
        where leases.owner = excluded.owner or leases."leaseUntil" <= ${now}
          or leases."leaseUntil" > ${now + LONGEST_LEASE_MS}
        returning name`.execute(db);
      const isAcquired = acquired.rows.length === 1;
      if (isAcquired && former !== undefined) onTakeover?.();
      return isAcquired;
    },
    take: async ({ name, owner, until }) => {
      await sql`
        insert into leases (name, owner, "leaseUntil") values (${name}, ${owner}, ${until})
        on conflict (name) do update set owner = excluded.owner, "leaseUntil" = excluded."leaseUntil"`.execute(
        db,
      );
    },
    release: async ({ name, owner }) => {
      await db.deleteFrom('leases').where('name', '=', name).where('owner', '=', owner).execute();
    },
  };
}
