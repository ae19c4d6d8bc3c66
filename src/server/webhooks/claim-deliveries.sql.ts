import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../platform/storage/engine.ts';
import { deliveryColumns } from './delivery-columns.sql.ts';
import type { ClaimRequest, Delivery } from './store.ts';

/**
 * A claimed row. `takenOver` is the number of all claimed rows that had a lease of another owner; it is the same in each
 * row.
 */
export type Claimed = Delivery & { readonly takenOver: number };

/**
 * The update that leases due deliveries, as DeliveryStore.claim describes it, but for those that wait for an earlier one.
 */
export function claimDeliveries(dialect: SqlDialect, request: ClaimRequest): RawBuilder<Claimed> {
  return dialect.engine === 'SQLite' ? claimOnSqlite(dialect, request) : claimOnPostgres(dialect, request);
}

/**
 * Looks at the first claimable row of each webhook, and then, in the order of those, at as many more rows as the limits
 * allow, so that the rest of a backlog is not read. SQLite has no lateral join: json_each of a correlated query replaces it,
 * and `cross join` keeps the order.
 */
function claimOnSqlite(dialect: SqlDialect, request: ClaimRequest): RawBuilder<Claimed> {
  const { owner, now, leaseUntil, limit, limitPerWebhook, exceptWebhooks } = request;
  const claimable = sql`
    "webhookId" = "webhooks"."id" and state = 'pending' and waiting is null and "claimableAt" <= ${now}`;
  // Materialised, so that it holds the rows as they were before the update.
  return sql`
    with due as materialized (
      select value as number, (select "leaseOwner" from deliveries where rowid = value) as former from (
        select id, (select min("claimableAt") from deliveries where ${claimable}) as first
        from webhooks where id ${dialect.noneOf(exceptWebhooks)} and first is not null
        order by first limit ${limit}
      ) as webhooks
      cross join json_each((
        select json_group_array(rowid) from (
          select rowid from deliveries where ${claimable} order by "claimableAt" limit ${limitPerWebhook}
        )
      ))
      limit ${limit}
    )
    update deliveries set "leaseOwner" = ${owner}, "leaseUntil" = ${leaseUntil}
    where rowid in (select number from due)
    returning ${deliveryColumns}, (select count(*) from due where former <> ${owner}) as "takenOver"`;
}

/**
 * Looks at the first claimable row of each webhook, and then, in the order of those, locks as many more rows as the limits
 * allow: the rest of a backlog is not read, and rows that other instances are claiming are skipped. The array makes the
 * update use the primary key, and the lower bound makes the rest use its index, whatever the planner believes about the
 * sizes of the tables.
 */
function claimOnPostgres(dialect: SqlDialect, request: ClaimRequest): RawBuilder<Claimed> {
  const { owner, now, leaseUntil, limit, limitPerWebhook, exceptWebhooks } = request;
  const claimable = sql`
    "webhookId" = webhooks.id and state = 'pending' and waiting is null and "claimableAt" between 0 and ${now}`;
  return sql`
    with due as materialized (
      select due.id, due."leaseOwner" as former from (
        select webhooks.id, first."claimableAt" from webhooks
        cross join lateral (
          select "claimableAt" from deliveries where ${claimable} order by "claimableAt" limit 1
        ) as first
        where webhooks.id ${dialect.noneOf(exceptWebhooks)}
        order by first."claimableAt" limit ${limit}
      ) as webhooks
      cross join lateral (
        select id, "leaseOwner" from deliveries where ${claimable} order by "claimableAt" limit ${limitPerWebhook}
        for update skip locked
      ) as due
      limit ${limit}
    )
    update deliveries set "leaseOwner" = ${owner}, "leaseUntil" = ${leaseUntil}
    where id = any(array(select id from due))
    returning ${deliveryColumns}, (select count(*) from due where former <> ${owner}) as "takenOver"`;
}
