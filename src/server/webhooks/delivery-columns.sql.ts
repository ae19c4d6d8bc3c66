import { type RawBuilder, sql } from 'kysely';
import { columnList } from '../platform/storage/column-list.ts';
import type { DeliveryState } from './store.ts';

/** The columns of a delivery record: all columns of the table except the computed one. */
export const DELIVERY_COLUMNS = [
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

/**
 * The condition of the index of deliveries that have ended. SQLite uses the index only where a query repeats the first half
 * literally.
 */
export const isEnded = sql`state <> 'pending' and state in ('delivered', 'failed', 'cancelled')`;

/** The condition that finds the deliveries of a state in the partial index that has them. */
export function isInState(state: DeliveryState): RawBuilder<unknown> {
  return state === 'pending' ? sql`state = 'pending'` : sql`state <> 'pending' and state = ${sql.lit(state)}`;
}
