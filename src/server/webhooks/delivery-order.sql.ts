import { type Kysely, sql } from 'kysely';
import type { Connection, SqlDialect, Statement } from '../platform/storage/engine.ts';
import type { Tables } from '../platform/storage/schema/tables.ts';

/** The deliveries of one session of a room to one webhook. */
export type DeliveryOrder = { readonly webhookId: string; readonly orderingKey: string };

const ORDER_TYPES = { webhookId: 'text', orderingKey: 'text' } as const;

/**
 * Statements for RunAtCommit that lock the orders. A transaction that adds a delivery to an order and one that ends a
 * delivery of it must not overlap: the first would see the earlier delivery as pending and let the new one wait, while the
 * second would not see the new one and let nothing go on. Both take the lock together with their commit, so that an
 * instance that is suspended within a transaction does not hold it.
 */
export function orderLocks(
  { nameLocks }: SqlDialect,
  orders: readonly { readonly orderingKey: string }[],
): readonly Statement<never>[] {
  const names = [...new Set(orders.map(({ orderingKey }) => orderingKey))].toSorted();
  if (nameLocks === undefined || names.length === 0) return [];
  const { name, sql: text } = nameLocks.all(names.map((key) => `order ${key}`));
  return [{ name, sql: text.$castTo<never>() }];
}

/** Ends the waiting of the first pending delivery of each order. Call it in the transaction that has ended one before it. */
export async function advanceOrders(
  { dialect, runAtCommit }: Connection,
  db: Kysely<Tables>,
  orders: readonly DeliveryOrder[],
): Promise<void> {
  if (orders.length === 0) return;
  const advance = sql<never>`
    update deliveries set waiting = null where waiting = 1 and id in (
      select (
        select id from deliveries
        where "webhookId" = listed."webhookId" and "orderingKey" = listed."orderingKey" and state = 'pending'
        order by sequence limit 1
      ) from ${dialect.rows(distinct(orders), ORDER_TYPES)} as listed
    )`;
  await runAtCommit(db, [...orderLocks(dialect, orders), { sql: advance }]);
}

/**
 * Ends the leases that `owner` has of waiting deliveries of the orders, because one before them was not delivered. SQLite
 * reads a list for `in` once, and one for `exists` once for each delivery.
 */
export async function giveBackWaiting(
  { dialect }: Connection,
  db: Kysely<Tables>,
  { owner, orders }: { readonly owner: string; readonly orders: readonly DeliveryOrder[] },
): Promise<void> {
  if (orders.length === 0) return;
  await sql`
    update deliveries set "leaseOwner" = null, "leaseUntil" = null where id in (
      select id from deliveries
      where "leaseOwner" = ${owner} and state = 'pending' and "orderingKey" is not null and waiting = 1
        and ("webhookId", "orderingKey") in (
        select "webhookId", "orderingKey" from ${dialect.rows(distinct(orders), ORDER_TYPES)} as listed
      ) ${dialect.lockFreeRows}
    )`.execute(db);
}

function distinct(orders: readonly DeliveryOrder[]): readonly DeliveryOrder[] {
  return [...new Map(orders.map((order) => [`${order.webhookId} ${order.orderingKey}`, order])).values()];
}
