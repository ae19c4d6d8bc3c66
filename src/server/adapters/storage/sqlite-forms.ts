import { type RawBuilder, sql } from 'kysely';
import type { ClaimRequest, Delivery } from '../../ports/webhook-store.ts';
import { deliveryColumns } from './delivery-columns.ts';
import type { QueryForms, RowColumns } from './engine.ts';

export const sqliteForms: QueryForms = {
  rows,
  oneOf: (values) => sql`in (select value from json_each(${JSON.stringify(values)}))`,
  noneOf: (values) => sql`not in (select value from json_each(${JSON.stringify(values)}))`,
  // A transaction has the whole file for itself.
  lockRows: sql``,
  lockFreeRows: sql``,
  lockName: async () => {},
  lockNames: async () => {},
  claim: claimDue,
};

function rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row> {
  const names = Object.keys(columns);
  const values = objects.map((object) => names.map((name) => object[name as keyof Row] ?? null));
  const fields = names.map((name, index) => sql`value ->> ${sql.lit(index)} as ${sql.ref(name)}`);
  return sql`(select ${sql.join(fields)} from json_each(${JSON.stringify(values)}))`;
}

/**
 * Looks at the first claimable row of each webhook, and then, in the order of those, at as many more as may be
 * taken: what else waits is not read. SQLite has no lateral join; json_each of a correlated query is one, and `cross
 * join` keeps its order.
 */
function claimDue(request: ClaimRequest): RawBuilder<Delivery> {
  const { owner, now, leaseUntil, limit, limitPerWebhook, exceptWebhooks } = request;
  const claimable = sql`"webhookId" = "webhooks"."id" and state = 'pending' and "claimableAt" <= ${now}`;
  return sql`
    update deliveries set "leaseOwner" = ${owner}, "leaseUntil" = ${leaseUntil}
    where rowid in (
      select value from (
        select id, (select min("claimableAt") from deliveries where ${claimable}) as first
        from webhooks where id ${sqliteForms.noneOf(exceptWebhooks)} and first is not null
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
