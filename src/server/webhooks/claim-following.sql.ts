import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../platform/storage/engine.ts';
import type { Claimed } from './claim-deliveries.sql.ts';
import { deliveryColumns } from './delivery-columns.sql.ts';
import type { ClaimRequest, Delivery } from './store.ts';

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
  const oneOf = (ids: RawBuilder<unknown>) =>
    dialect.engine === 'SQLite' ? sql`in (${ids})` : sql`= any(array(${ids}))`;
  return sql`
    with ranked as materialized (${followingOf(dialect, runs)}), free as materialized (
      select id, "leaseOwner" as former from deliveries
      where id ${oneOf(sql`select id from ranked`)} and state = 'pending' and "dueAt" <= ${now}
        and ("leaseUntil" is null or "leaseUntil" <= ${now} or "leaseOwner" = ${owner}) ${dialect.lockFreeRows}
    ), placed as (
      select free.id, former, rank,
        row_number() over (partition by "webhookId", "orderingKey" order by rank) as place
      from ranked join free on free.id = ranked.id
    ), due as materialized (select id, former from placed where rank = place)
    update deliveries set "leaseOwner" = ${owner}, "leaseUntil" = ${leaseUntil}
    where id ${oneOf(sql`select id from due`)}
    returning ${deliveryColumns}, (select count(*) from due where former <> ${owner}) as "takenOver"`;
}

/** Selects the first waiting deliveries of each listed order: their ids, ranked from 1. */
function followingOf(dialect: SqlDialect, runs: readonly Run[]): RawBuilder<unknown> {
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
