import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { SqlDialect, Statement } from '../platform/storage/engine.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import { appendToLog, insertDeliveries } from './delivery-rows.sql.ts';
import type { DeliveryOutcome, Kept, NewDelivery, Parcel } from './store.ts';

/*
 * A parcel is one row for all deliveries of a transaction that its instance sends at once. Their own rows are written when
 * they have an outcome, so that a success costs one row, written once. A parcel is soon gone: with its last outcome, or at
 * the next renewal of leases, which writes rows for what is left of it. See store.ts for the protocol.
 */

/** Inserts a parcel, if the condition holds. */
export function insertParcel(parcel: Parcel, condition: RawBuilder<unknown>): RawBuilder<never> {
  const { id, owner, leaseUntil } = parcel;
  const deliveries = JSON.stringify(parcel.deliveries.map((one) => LISTED.map((field) => one[field])));
  return sql`
    insert into parcels (id, owner, "leaseUntil", deliveries)
    select cast(${id} as text), cast(${owner} as text), cast(${leaseUntil} as bigint), cast(${deliveries} as text)
    where ${condition}`;
}

/** The columns of a delivery that the list of a parcel has, in this order. Names would take half of its bytes. */
const LISTED = ['id', 'webhookId', 'eventId', 'eventName', 'createdAt'] as const;

type Listed = Pick<NewDelivery, (typeof LISTED)[number]>;

type ParcelRow = Pick<Parcel, 'id' | 'owner' | 'leaseUntil'> & { readonly deliveries: string };

type Lease = Pick<NewDelivery, 'leaseOwner' | 'leaseUntil'>;

type Unpacking = {
  /** A condition of parcels, and a lock of them. */
  readonly chosen: RawBuilder<unknown>;
  readonly findLease: (id: string, parcel: ParcelRow) => Lease;
};

/** A delivery that got its row, and the instance that had its parcel. */
type Unpacked = Pick<NewDelivery, 'id' | 'leaseOwner'> & { readonly formerOwner: string };

const NO_LEASE: Lease = { leaseOwner: null, leaseUntil: null };

/**
 * Writes rows for the deliveries that only the chosen parcels have, and deletes the parcels. Their owner may be writing rows
 * at the same moment: it locks the parcel first, as we do. A delivery of a deleted webhook is forgotten.
 */
async function unpack(
  dialect: SqlDialect,
  db: Kysely<Tables>,
  { chosen, findLease }: Unpacking,
): Promise<readonly Unpacked[]> {
  const parcels = await sql<ParcelRow>`
    select id, owner, "leaseUntil", deliveries from parcels where ${chosen}`.execute(db);
  if (parcels.rows.length === 0) return [];
  const owners = new Map<string, string>();
  const found = parcels.rows.flatMap((parcel) =>
    (JSON.parse(parcel.deliveries) as readonly (readonly unknown[])[]).map((values) => {
      const listed = Object.fromEntries(LISTED.map((field, place) => [field, values[place]])) as Listed;
      owners.set(listed.id, parcel.owner);
      const lease = findLease(listed.id, parcel);
      return { ...listed, ...lease, dueAt: listed.createdAt, orderingKey: null, sequence: null };
    }),
  );
  const isWanted = sql`
    exists (select 1 from events where events.id = listed."eventId")
    and exists (select 1 from webhooks where webhooks.id = listed."webhookId")`;
  const inserted = await sql<Pick<NewDelivery, 'id' | 'leaseOwner'>>`
    ${insertDeliveries(dialect, found, isWanted)} on conflict (id) do nothing
    returning id, "leaseOwner"`.execute(db);
  await sql`delete from parcels where id ${dialect.oneOf(parcels.rows.map(({ id }) => id))}`.execute(db);
  return inserted.rows.map((row) => ({ ...row, formerOwner: owners.get(row.id) ?? '' }));
}

/** Implements DeliveryStore.unpack. */
export async function unpackOwn(
  { atomically, dialect }: Connection,
  { owner, parcelIds }: { readonly owner: string; readonly parcelIds: readonly string[] },
  kept: Kept | undefined,
): Promise<readonly string[]> {
  if (parcelIds.length === 0) return [];
  const own = new Set(kept?.ids);
  const findLease: Unpacking['findLease'] = (id, parcel) => {
    if (kept === undefined) return { leaseOwner: owner, leaseUntil: parcel.leaseUntil };
    return own.has(id) ? { leaseOwner: owner, leaseUntil: kept.leaseUntil } : NO_LEASE;
  };
  const chosen = sql`id ${dialect.oneOf(parcelIds)} and owner = ${owner} order by id ${dialect.lockRows}`;
  const unpacked = await atomically((db) => unpack(dialect, db, { chosen, findLease }));
  return unpacked.filter(({ leaseOwner }) => leaseOwner !== null).map(({ id }) => id);
}

/** Unpacks all parcels of the owner; their deliveries get no lease. Returns their number. */
export async function unpackAll({ atomically, dialect }: Connection, owner: string): Promise<number> {
  const chosen = sql`owner = ${owner} order by id ${dialect.lockRows}`;
  return (await atomically((db) => unpack(dialect, db, { chosen, findLease: () => NO_LEASE }))).length;
}

/** Limits how long one statement makes other writers wait. */
const TAKEN_OVER_AT_ONCE = 4;

/** Unpacks parcels whose lease has run out. Returns how many deliveries were of another instance. */
export async function takeOverParcels(
  dialect: SqlDialect,
  db: Kysely<Tables>,
  { owner, now }: { readonly owner: string; readonly now: number },
): Promise<number> {
  const unpacked = await unpack(dialect, db, {
    chosen: sql`
      "leaseUntil" <= ${now} order by "leaseUntil" limit ${TAKEN_OVER_AT_ONCE} ${dialect.lockFreeRows}`,
    findLease: () => NO_LEASE,
  });
  return unpacked.filter(({ formerOwner }) => formerOwner !== owner).length;
}

const SETTLED_TYPES = {
  parcelId: 'text',
  id: 'text',
  webhookId: 'text',
  eventId: 'text',
  eventName: 'text',
  dueAt: 'integer',
  createdAt: 'integer',
  endedAt: 'integer',
  state: 'text',
  log: 'text',
} as const;

/** The name of the statement that stores the outcomes of parcelled deliveries on PostgreSQL. */
export const RECORD_PARCELLED = 'record-parcelled';

/**
 * Statements that insert the rows of parcelled deliveries with their outcomes, as far as the owner has their parcels, and
 * delete the parcels in `emptied`. They return the ids of the rows.
 */
export function recordParcelled(
  dialect: SqlDialect,
  outcomes: readonly DeliveryOutcome[],
  { owner, emptied }: { readonly owner: string; readonly emptied: readonly string[] },
): readonly Statement<{ id: string }>[] {
  const listed = outcomes.flatMap(({ attempt, next, parcelled }) =>
    parcelled === undefined
      ? []
      : [
          {
            ...parcelled.delivery,
            parcelId: parcelled.parcelId,
            state: next.state,
            dueAt: next.state === 'pending' ? next.dueAt : parcelled.delivery.dueAt,
            endedAt: next.state === 'pending' ? null : next.endedAt,
            log: appendToLog(null, attempt),
          },
        ],
  );
  if (listed.length === 0) return [];
  const columns = sql`id, "webhookId", "eventId", "eventName", "dueAt", "createdAt", "endedAt", state, log`;
  const parcelIds = [...new Set(listed.map(({ parcelId }) => parcelId))];
  const own = sql`select id from parcels where id ${dialect.oneOf(parcelIds)} and owner = ${owner}`;
  const isEmptied = sql`owner = ${owner} and id ${dialect.oneOf(emptied)}`;
  const insert = (held: RawBuilder<unknown>) => sql<{ id: string }>`
    insert into deliveries (${columns}, attempts, "roundAttempts")
    select ${columns}, 1, 1 from ${dialect.rows(listed, SETTLED_TYPES)} as listed where "parcelId" in (${held})
    on conflict (id) do nothing returning id`;
  if (dialect.engine === 'SQLite') {
    const remove = sql<{ id: string }>`delete from parcels where ${isEmptied}`;
    return [{ sql: insert(own) }, ...(emptied.length === 0 ? [] : [{ sql: remove }])];
  }
  // The parcels are locked in the order in which they are unpacked, so that nobody waits for another in a circle.
  const text = sql<{ id: string }>`
    with held as materialized (${own} order by id for update), emptied as (
      delete from parcels where ${isEmptied} and id in (select id from held)
    ) ${insert(sql`select id from held`)}`;
  return [{ name: RECORD_PARCELLED, sql: text }];
}
