import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../../../../src/server/platform/storage/engine.ts';

/**
 * Webhooks that get the events of a room in order. A delivery that waits for an earlier one of its room is not in the
 * index of claims, so that a claim never walks over it.
 */
export async function addDeliveryOrder(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  await db.schema
    .alterTable('webhooks')
    .addColumn('ordering', text, (column) => column.notNull().defaultTo('none'))
    .execute();
  await db.schema.alterTable('deliveries').addColumn('orderingKey', text).execute();
  await db.schema.alterTable('deliveries').addColumn('sequence', integer).execute();
  await db.schema.alterTable('deliveries').addColumn('waiting', integer).execute();
  await db.schema.dropIndex('deliveriesClaimable').execute();
  await db.schema
    .createIndex('deliveriesClaimable')
    .on('deliveries')
    .columns(['webhookId', 'claimableAt'])
    .where(sql<boolean>`state = 'pending' and waiting is null`)
    .execute();
  await db.schema
    .createIndex('deliveriesOfOrder')
    .on('deliveries')
    .columns(['webhookId', 'orderingKey', 'sequence'])
    .where(sql<boolean>`state = 'pending' and "orderingKey" is not null`)
    .execute();
}
