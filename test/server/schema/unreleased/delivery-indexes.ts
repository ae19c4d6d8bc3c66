import { type Kysely, sql } from 'kysely';

/**
 * Migration 029: a delivery enters the large index of the log once, when it ends. Until then it is in an index of pending
 * deliveries, which is small. One index for all states took three writes for each delivery, on pages of its webhook that
 * no other delivery of the event shared. The indexes by lease and by event of pending deliveries cost two writes each, and
 * served a shutdown and a purge, which can do without.
 */
export async function indexDeliveriesByEnd(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('deliveriesNewestEnded')
    .on('deliveries')
    .columns(['webhookId', 'state', 'createdAt', 'id'])
    .where(sql<boolean>`state <> 'pending'`)
    .execute();
  await db.schema
    .createIndex('deliveriesNewestPending')
    .on('deliveries')
    .columns(['webhookId', 'createdAt', 'id'])
    .where(sql<boolean>`state = 'pending'`)
    .execute();
  // Last, because PostgreSQL keeps other instances from reading deliveries from here on to the commit.
  for (const name of ['deliveriesNewestOfState', 'deliveriesPendingOfEvent', 'deliveriesLeased']) {
    await db.schema.dropIndex(name).execute();
  }
}
