import { sql } from 'kysely';
import type { Connection } from './engine.ts';

export type Lease = {
  readonly name: string;
  /** The instance that holds the lease, or asks for it. */
  readonly owner: string;
};

export type NewLease = Lease & {
  readonly until: number;
  /** Called when the lease was taken over from an owner that had not released it. */
  readonly onTakeover?: (() => void) | undefined;
};

/** Named leases for work that one instance at a time does, such as the reconciler. */
export interface LeaseStore {
  /**
   * Returns true when `owner` now holds the lease: it was free, had expired, or was its own. A lease that ends in more than
   * ten minutes was taken before the clock was set back, and counts as expired.
   */
  acquire(lease: NewLease, now: number): Promise<boolean>;
  /** Takes the lease, whichever instance holds it. */
  take(lease: Lease & { readonly until: number }): Promise<void>;
  release(lease: Lease): Promise<void>;
}

/** Longer than any lease. A lease that ends later was taken before the clock was set back. */
const LONGEST_LEASE_MS = 600_000;

/** The statements are text, because this folder does not know the row types. */
export function createLeaseStore<Tables>({ db }: Pick<Connection<Tables>, 'db'>): LeaseStore {
  return {
    acquire: async ({ name, owner, until, onTakeover }, now) => {
      const former =
        onTakeover &&
        (await sql`select 1 from leases where name = ${name} and owner <> ${owner}`.execute(db));
      const acquired = await sql`
        insert into leases (name, owner, "leaseUntil") values (${name}, ${owner}, ${until})
        on conflict (name) do update set owner = excluded.owner, "leaseUntil" = excluded."leaseUntil"
        where leases.owner = excluded.owner or leases."leaseUntil" <= ${now}
          or leases."leaseUntil" > ${now + LONGEST_LEASE_MS}
        returning name`.execute(db);
      const isAcquired = acquired.rows.length === 1;
      if (isAcquired && former !== undefined && former.rows.length > 0) onTakeover?.();
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
      await sql`delete from leases where name = ${name} and owner = ${owner}`.execute(db);
    },
  };
}
