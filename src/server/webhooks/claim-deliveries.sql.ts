import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../platform/storage/engine.ts';
import { deliveryColumns } from './delivery-columns.sql.ts';
import type { ClaimRequest, Delivery } from './store.ts';

/** The update that leases due deliveries, as DeliveryStore.claim describes it. */
export function claimDeliveries(dialect: SqlDialect, request: ClaimRequest): RawBuilder<Delivery> {
  return dialect.engine === 'SQLite' ? claimOnSqlite(dialect, request) : claimOnPostgres(dialect, request);
}

/**
 * Looks at the first claimable row of each webhook, and then, in the order of those, at as many more as may be
 * taken: what else waits is not read. SQLite has no lateral join; json_each of a correlated query is one, and `cross
 * join` keeps its order.
 */
function claimOnSqlite(dialect: SqlDialect, request: ClaimRequest): RawBuilder<Delivery> {
  const { owner, now, leaseUntil, limit, limitPerWebhook, exceptWebhooks } = request;
  const claimable = sql`"webhookId" = "webhooks"."id" and state = 'pending' and "claimableAt" <= ${now}`;
  return sql`
    update deliveries set "leaseOwner" = ${owner}, "leaseUntil" = ${leaseUntil}
    where rowid in (
      select value from (
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
    returning ${deliveryColumns}`;
}

/**
 * Looks at the first claimable row of each webhook, and then, in the order of those, locks as many more as may be
 * taken: what else waits is not read, what others are claiming is passed over. The array keeps the update on the
 * primary key, and the lower bound the rest on its index, whatever the planner believes about the sizes.
 */
function claimOnPostgres(dialect: SqlDialect, request: ClaimRequest): RawBuilder<Delivery> {
  const { owner, now, leaseUntil, limit, limitPerWebhook, exceptWebhooks } = request;
  const claimable = sql`"webhookId" = webhooks.id and state = 'pending' and "claimableAt" between 0 and ${now}`;
  return sql`
    update deliveries set "leaseOwner" = ${owner}, "leaseUntil" = ${leaseUntil}
    where id = any(array(
      select due.id from (
        select webhooks.id, first."claimableAt" from webhooks
        cross join lateral (
          select "claimableAt" from deliveries where ${claimable} order by "claimableAt" limit 1
        ) as first
        where webhooks.id ${dialect.noneOf(exceptWebhooks)}
        order by first."claimableAt" limit ${limit}
      ) as webhooks
      cross join lateral (
        select id from deliveries where ${claimable} order by "claimableAt" limit ${limitPerWebhook}
        for update skip locked
      ) as due
      limit ${limit}
    ))
    returning ${deliveryColumns}`;
}
