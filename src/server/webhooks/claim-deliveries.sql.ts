import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../platform/storage/engine.ts';
import { deliveryColumns } from './delivery-rows.sql.ts';
import type { ClaimRequest, Delivery } from './store.ts';

/**
 * A claimed row. `takenOver` is the number of all claimed rows that had a lease of another owner; it is the same in each
 * row.
 */
type Claimed = Delivery & { readonly takenOver: number };

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
        from webhooks where "pausedAt" is null and id ${dialect.noneOf(exceptWebhooks)} and first is not null
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
        where webhooks."pausedAt" is null and webhooks.id ${dialect.noneOf(exceptWebhooks)}
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

/** An order whose first delivery was claimed just now, and how many of those behind it may be. */
type Run = { readonly webhookId: string; readonly orderingKey: string; readonly most: number };

/**
 * The update that leases what waits behind the deliveries that were claimed just now, in the same transaction; undefined
 * when there is nothing to look for. It takes no delivery without all those before it: where somebody else has leased
 * or locked one, or where one is not due, it stops.
 */
export function claimFollowing(
  dialect: SqlDialect,
  request: ClaimRequest,
  claimed: readonly Delivery[],
): RawBuilder<Claimed> | undefined {
  const runs = runsBehind(request, claimed);
  if (runs.length === 0) return undefined;
  const { owner, now, leaseUntil } = request;
  const isAmong = (ids: RawBuilder<unknown>) =>
    dialect.engine === 'SQLite' ? sql`in (${ids})` : sql`= any(array(${ids}))`;
  // A row whose place among the free ones is its rank has none before it that is not free.
  return sql`
    with ranked as materialized (${selectFollowing(dialect, runs)}), free as materialized (
      select id, "leaseOwner" as former from deliveries
      where id ${isAmong(sql`select id from ranked`)} and state = 'pending' and "dueAt" <= ${now}
        and ("leaseUntil" is null or "leaseUntil" <= ${now} or "leaseOwner" = ${owner}) ${dialect.lockFreeRows}
    ), placed as (
      select free.id, former, rank,
        row_number() over (partition by "webhookId", "orderingKey" order by rank) as place
      from ranked join free on free.id = ranked.id
    ), due as materialized (select id, former from placed where rank = place)
    update deliveries set "leaseOwner" = ${owner}, "leaseUntil" = ${leaseUntil}
    where id ${isAmong(sql`select id from due`)}
    returning ${deliveryColumns}, (select count(*) from due where former <> ${owner}) as "takenOver"`;
}

/** Selects the first waiting deliveries of each listed order: their ids, ranked from 1. */
function selectFollowing(dialect: SqlDialect, runs: readonly Run[]): RawBuilder<unknown> {
  const listed = dialect.rows(runs, { webhookId: 'text', orderingKey: 'text', most: 'integer' });
  const ids = sql`
    select id from deliveries
    where "webhookId" = listed."webhookId" and "orderingKey" = listed."orderingKey" and state = 'pending'
      and waiting = 1
    order by sequence limit ${Math.max(...runs.map(({ most }) => most))}`;
  const columns = sql`listed."webhookId" as "webhookId", listed."orderingKey" as "orderingKey"`;
  return dialect.engine === 'SQLite'
    ? sql`
      select ${columns}, following.value as id, following.key + 1 as rank
      from ${listed} as listed cross join json_each((select json_group_array(id) from (${ids}))) as following
      where following.key < listed.most`
    : sql`
      select ${columns}, following.id, following.rank
      from ${listed} as listed cross join lateral unnest(array(${ids})) with ordinality as following (id, rank)
      where following.rank <= listed.most`;
}

/** The orders share the places that the claim has left, so that a deep one takes none from the others. */
function runsBehind(
  { limit, limitPerWebhook, limitPerOrder }: ClaimRequest,
  claimed: readonly Delivery[],
): readonly Run[] {
  const ordered = claimed.filter(({ orderingKey }) => orderingKey !== null);
  const ofAll = Math.floor((limit - claimed.length) / Math.max(1, ordered.length));
  const byWebhook = Map.groupBy(claimed, ({ webhookId }) => webhookId);
  return [...byWebhook].flatMap(([webhookId, rows]) => {
    const keys = rows.flatMap(({ orderingKey }) => orderingKey ?? []);
    const ofWebhook = Math.floor((limitPerWebhook - rows.length) / Math.max(1, keys.length));
    const most = Math.min(ofAll, ofWebhook, limitPerOrder - 1);
    return most < 1 ? [] : keys.map((orderingKey) => ({ webhookId, orderingKey, most }));
  });
}
