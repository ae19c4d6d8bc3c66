import { type RawBuilder, sql } from 'kysely';
import type { ClaimRequest, Delivery } from '../../ports/webhook-store.ts';
import { deliveryColumns } from './delivery-columns.ts';
import type { QueryForms, RowColumns } from './engine.ts';

/** Any number, the same in every instance: keeps the names' hashes apart from other locks. */
const NAME_LOCK_SEED = 0x727463;

export const postgresForms: QueryForms = {
  rows,
  oneOf: (values) => sql`= any(${values})`,
  noneOf: (values) => sql`<> all(${values})`,
  lockRows: sql`for update`,
  lockFreeRows: sql`for update skip locked`,
  lockName: async (db, name) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, ${NAME_LOCK_SEED}))`.execute(db);
  },
  lockNames: async (db, names) => {
    await sql`
      select pg_advisory_xact_lock(hashtextextended(name, ${NAME_LOCK_SEED}))
      from (select name from unnest(${names}::text[]) with ordinality as listed (name, number) order by number) as ordered
    `.execute(db);
  },
  claim: claimDue,
};

const TYPES = { text: sql`text`, integer: sql`bigint` } as const;

function rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const fields = names.map((name) => sql`${sql.ref(name)} ${TYPES[columns[name] ?? 'text']}`);
  const json = JSON.stringify(objects, names);
  return sql`(select * from json_to_recordset(${json}) as listed (${sql.join(fields)}))`;
}

/**
 * Looks at the first claimable row of each webhook, and then, in the order of those, locks as many more as may be
 * taken: what else waits is not read, what others are claiming is passed over. The array keeps the update on the
 * primary key, and the lower bound the rest on its index, whatever the planner believes about the sizes.
 */
function claimDue(request: ClaimRequest): RawBuilder<Delivery> {
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
        where webhooks.id ${postgresForms.noneOf(exceptWebhooks)}
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
