import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { SqlDialect, Statement } from '../platform/storage/engine.ts';
import { columnList, sanitizeText } from '../platform/storage/statements.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import type {
  Attempt,
  CountQuery,
  Delivery,
  DeliveryState,
  LoggedDelivery,
  NewDelivery,
  PartCount,
  PendingCount,
} from './store.ts';

/* store.ts explains orders, `waiting`, leases and parcels. */

/** The columns of a delivery record: all columns of the table except the log and the computed one. */
const DELIVERY_COLUMNS = [
  'id',
  'webhookId',
  'eventId',
  'eventName',
  'dueAt',
  'createdAt',
  'leaseOwner',
  'leaseUntil',
  'orderingKey',
  'sequence',
  'waiting',
  'state',
  'attempts',
  'roundAttempts',
  'endedAt',
] as const;

export const deliveryColumns = columnList(DELIVERY_COLUMNS);

export const loggedColumns = columnList([...DELIVERY_COLUMNS, 'log']);

/** Attempts that are kept of a delivery: as many as five rounds have. The newest ones take the place of the oldest. */
const MAX_LOGGED_ATTEMPTS = 20;

type LoggedAttempt = Omit<Attempt, 'number'>;

/**
 * The fields of an attempt, in the order in which the log has their values: names would take most of its bytes. The
 * response is the last one, where erasure.sql.ts finds it.
 */
const LOGGED = ['startedAt', 'durationMs', 'statusCode', 'error', 'responseBody'] as const;

/** A delivery's log, which is a list as JSON text, with one more attempt; null is an empty log. */
export function appendToLog(log: string | null, attempt: LoggedAttempt): string {
  const { error, responseBody } = attempt;
  const kept = {
    ...attempt,
    error: error && sanitizeText(error),
    responseBody: responseBody && sanitizeText(responseBody),
  };
  const earlier: readonly unknown[] = log === null ? [] : JSON.parse(log);
  return JSON.stringify([...earlier, LOGGED.map((field) => kept[field])].slice(-MAX_LOGGED_ATTEMPTS));
}

export function readLog(log: string | null): readonly LoggedAttempt[] {
  const attempts: readonly (readonly unknown[])[] = log === null ? [] : JSON.parse(log);
  return attempts.map(
    (values) => Object.fromEntries(LOGGED.map((field, place) => [field, values[place]])) as LoggedAttempt,
  );
}

/** Numbers the attempts of the log. The last one has the number `attempts`, because every attempt is counted and the oldest go. */
export function toLogged({ log, ...delivery }: Delivery & { readonly log: string | null }): LoggedDelivery {
  const attempts = readLog(log);
  const before = delivery.attempts - attempts.length;
  return { ...delivery, log: attempts.map((attempt, index) => ({ number: before + index + 1, ...attempt })) };
}

/**
 * The condition of the index of deliveries that have ended. SQLite uses the index only where a query repeats the first half
 * literally.
 */
export const isEnded = sql`state <> 'pending' and state in ('delivered', 'failed', 'cancelled')`;

/** The condition that finds the deliveries of a state in the partial index that has them. */
export function isInState(state: DeliveryState): RawBuilder<unknown> {
  return state === 'pending' ? sql`state = 'pending'` : sql`state <> 'pending' and state = ${sql.lit(state)}`;
}

const COLUMN_TYPES = {
  id: 'text',
  webhookId: 'text',
  eventId: 'text',
  eventName: 'text',
  dueAt: 'integer',
  createdAt: 'integer',
  leaseOwner: 'text',
  leaseUntil: 'integer',
} as const;

const ORDERED_TYPES = { ...COLUMN_TYPES, orderingKey: 'text', sequence: 'integer' } as const;

/** The columns that are inserted of deliveries without an order. */
const columns = listColumns(COLUMN_TYPES);

/** The columns that are inserted of ordered deliveries as they are; the lease is computed. */
const unleasedColumns = listColumns(ORDERED_TYPES, ['leaseOwner', 'leaseUntil']);

/** `isWaiting` is 1 for an ordered delivery that got no lease, because a delivery that is already stored precedes it. */
export type InsertedDelivery = { readonly id: string; readonly isWaiting?: 0 | 1 };

type OrderedDelivery = NewDelivery & { readonly orderingKey: string };

/** Separates the deliveries that have a place in an order from the others. */
export function splitByOrder(deliveries: readonly NewDelivery[]): {
  readonly ordered: readonly OrderedDelivery[];
  readonly unordered: readonly NewDelivery[];
} {
  return { ordered: deliveries.filter(isOrdered), unordered: deliveries.filter((one) => !isOrdered(one)) };
}

function isOrdered(delivery: NewDelivery): delivery is OrderedDelivery {
  return delivery.orderingKey !== null;
}

/**
 * Inserts unordered deliveries that meet the condition, as pending. The condition may refer to their columns as `listed`.
 */
export function insertDeliveries(
  dialect: SqlDialect,
  deliveries: readonly NewDelivery[],
  condition: RawBuilder<unknown>,
): RawBuilder<{ id: string }> {
  return sql`
    insert into deliveries (${columns}, state, attempts, "roundAttempts")
    select ${columns}, 'pending', 0, 0 from ${dialect.rows(deliveries, COLUMN_TYPES)} as listed where ${condition}`;
}

/**
 * Inserts ordered deliveries that meet the condition, as pending. `place` is the position among the listed ones of a key.
 *
 * - If an earlier delivery of the key is stored and pending, all of them are behind it: they wait and get no lease.
 * - Otherwise only the first one is sent at once. The others wait for it, but all have their leases, because this instance
 *   sends them one after the other.
 *
 * The limit keeps PostgreSQL on the index: it may turn an `exists` into a scan of all pending deliveries.
 */
export function insertOrdered(
  dialect: SqlDialect,
  deliveries: readonly OrderedDelivery[],
  condition: RawBuilder<unknown>,
): RawBuilder<InsertedDelivery> {
  return sql`
    insert into deliveries (
      ${unleasedColumns}, state, attempts, "roundAttempts", waiting, "leaseOwner", "leaseUntil"
    )
    select ${unleasedColumns}, 'pending', 0, 0,
      case when "isBehind" = 1 or place > 1 then 1 end,
      case when "isBehind" = 0 then "leaseOwner" end,
      case when "isBehind" = 0 then "leaseUntil" end
    from (
      select listed.*,
        row_number() over (partition by "webhookId", "orderingKey" order by sequence) as place,
        case when (
          select 1 from deliveries as earlier
          where earlier."webhookId" = listed."webhookId" and earlier."orderingKey" = listed."orderingKey"
            and earlier.state = 'pending'
          order by earlier.sequence limit 1
        ) is null then 0 else 1 end as "isBehind"
      from ${dialect.rows(deliveries, ORDERED_TYPES)} as listed where ${condition}
    ) as placed
    returning id, case when waiting = 1 and "leaseOwner" is null then 1 else 0 end as "isWaiting"`;
}

function listColumns(types: object, without: readonly string[] = []): RawBuilder<unknown> {
  const names = Object.keys(types).filter((name) => !without.includes(name));
  return columnList(names);
}

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

/** Lets the first pending delivery of each order wait no longer. Call it in the transaction that has ended the one before. */
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

/**
 * Reads only the index of the lists: its entries have the state and the instant. Pending deliveries may also be in parcels.
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
  return rows;
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
  return { retrying: rows[0]?.retrying ?? 0, oldestAt: rows[0]?.oldestAt ?? null };
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
