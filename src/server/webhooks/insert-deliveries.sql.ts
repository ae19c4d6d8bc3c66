import { type RawBuilder, sql } from 'kysely';
import { columnList } from '../platform/storage/column-list.ts';
import type { SqlDialect } from '../platform/storage/engine.ts';
import type { NewDelivery } from './store.ts';

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

const columns = columnsOf(COLUMN_TYPES);
const unleasedColumns = columnsOf(ORDERED_TYPES, ['leaseOwner', 'leaseUntil']);

/** `isWaiting` is 1 for an ordered delivery that got no lease, because an earlier one is pending. */
export type InsertedDelivery = { readonly id: string; readonly isWaiting?: 0 | 1 };

export type OrderedDelivery = NewDelivery & { readonly orderingKey: string };

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
 * Inserts ordered deliveries that meet the condition, as pending. The first one of a key is not waiting where no earlier one
 * is pending. Only then do the listed deliveries of that key get their leases: this instance sends them one after the other.
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

function columnsOf(types: object, without: readonly string[] = []): RawBuilder<unknown> {
  const names = Object.keys(types).filter((name) => !without.includes(name));
  return columnList(names);
}
