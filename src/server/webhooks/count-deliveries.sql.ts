import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../schema/tables.ts';
import { isInState } from './delivery-rows.sql.ts';
import type { CountQuery, DeliveryState, PartCount, PendingCount } from './store.ts';

/**
 * Reads only the index of the lists: its entries have the state and the instant. Of the pending ones it also reads parcels.
 */
export async function countByPart({ db }: Connection, query: CountQuery): Promise<readonly PartCount[]> {
  const { webhookId, state, since, until, partMs, limit } = query;
  const counted = sql`"createdAt" between ${since} and ${until - 1}`;
  const ofState = sql`
    select * from (
      select "createdAt" from deliveries where "webhookId" = ${webhookId} and ${isInState(state)} and ${counted}
      order by "createdAt" desc, id desc limit ${limit}
    ) as stored`;
  const all =
    state === 'pending'
      ? sql`${ofState} union all ${ofParcels(sql`"createdAt"`, webhookId)} and ${counted}`
      : ofState;
  const { rows } = await sql<PartCount>`
    select cast(("createdAt" - ${since}) / ${partMs} as bigint) as part, count(*) as count
    from (${all}) as newest group by part order by part`.execute(db);
  return rows.map(({ part, count }) => ({ part: Number(part), count: Number(count) }));
}

/** Columns of the deliveries of a webhook that only parcels have. They are few. */
function ofParcels(columns: RawBuilder<unknown>, webhookId: string): RawBuilder<unknown> {
  return sql`select ${columns} from "parcelledDeliveries" where "webhookId" = ${webhookId}`;
}

export async function countPending(
  { db }: Connection,
  webhookId: string,
  limit: number,
): Promise<PendingCount> {
  const { rows } = await sql<{ retrying: number | null; oldestAt: number | null }>`
    select sum(case when attempts > 0 then 1 else 0 end) as retrying, min("createdAt") as "oldestAt" from (
      select * from (
        select attempts, "createdAt" from deliveries where "webhookId" = ${webhookId} and ${isInState('pending')}
        order by "createdAt" desc, id desc limit ${limit}
      ) as stored
      union all ${ofParcels(sql`attempts, "createdAt"`, webhookId)}
    ) as newest`.execute(db);
  return { retrying: Number(rows[0]?.retrying ?? 0), oldestAt: rows[0]?.oldestAt ?? null };
}

/** Pending deliveries that were tried are looked for among the newest ones only. */
const LOOKED_THROUGH = 1_000;

export async function listTried(
  { db }: Connection,
  webhookId: string,
  limit: number,
): Promise<readonly DeliveryState[]> {
  const newest = (state: DeliveryState, most: number) => sql`
    select * from (
      select state, attempts, "createdAt", id from deliveries
      where "webhookId" = ${webhookId} and ${isInState(state)}
      order by "createdAt" desc, id desc limit ${most}
    ) as ${sql.ref(state)}`;
  const { rows } = await sql<{ state: DeliveryState }>`
    select state from (
      ${newest('delivered', limit)} union all ${newest('failed', limit)} union all
      ${newest('pending', LOOKED_THROUGH)}
    ) as known where attempts > 0 order by "createdAt" desc, id desc limit ${limit}`.execute(db);
  return rows.map(({ state }) => state);
}
