import { type RawBuilder, sql } from 'kysely';
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

const columns = sql.join(Object.keys(COLUMN_TYPES).map((column) => sql.ref(column)));

/** Inserts the deliveries that meet the condition, as pending. The condition may refer to their columns as `listed`. */
export function insertDeliveries(
  dialect: SqlDialect,
  deliveries: readonly NewDelivery[],
  condition: RawBuilder<unknown>,
): RawBuilder<{ id: string }> {
  return sql`
    insert into deliveries (${columns}, state, attempts, "roundAttempts")
    select ${columns}, 'pending', 0, 0 from ${dialect.rows(deliveries, COLUMN_TYPES)} as listed where ${condition}`;
}
