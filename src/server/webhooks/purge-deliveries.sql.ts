import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../platform/storage/engine.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import { deliveryColumns, isEnded, isInState } from './delivery-rows.sql.ts';

/** Limits the time for which one statement makes other writers wait. */
const CANCELLED_AT_ONCE = 500;

/** Maximum webhooks whose deliveries one purge reads. */
const WEBHOOKS_AT_ONCE = 100;

const isPending = isInState('pending');

/**
 * Cancels the pending deliveries of the webhook in batches, leased or not. Rows whose outcome is being recorded are skipped.
 * Those that only parcels have get rows, unless an outcome comes first.
 */
export async function cancelDeliveries(
  connection: Connection,
  webhookId: string,
  now: number,
): Promise<void> {
  await sql`
    insert into deliveries (${deliveryColumns})
    select ${deliveryColumns} from "parcelledDeliveries" where "webhookId" = ${webhookId}
    on conflict (id) do nothing`.execute(connection.db);
  while ((await cancelSome(connection, webhookId, now)) === CANCELLED_AT_ONCE);
}

async function cancelSome({ db, dialect }: Connection, webhookId: string, now: number): Promise<number> {
  const cancelled = await sql`
    update deliveries set state = 'cancelled', "endedAt" = ${now}, "leaseOwner" = null, "leaseUntil" = null
    where id in (
      select id from deliveries where "webhookId" = ${webhookId} and state = 'pending'
      limit ${CANCELLED_AT_ONCE} ${dialect.lockFreeRows}
    )`.execute(db);
  return Number(cancelled.numAffectedRows ?? 0);
}

/** Deletes the deliveries of deleted webhooks, and then ended deliveries created before `before`. */
export function purgeDeliveries(connection: Connection, before: number, limit: number): Promise<number> {
  return connection.atomically(async (db) => {
    const ofDeleted = await chooseOfDeleted(db, connection, limit);
    const old =
      ofDeleted.length < limit
        ? await chooseOld(db, connection, { before, limit: limit - ofDeleted.length })
        : [];
    const ids = [...ofDeleted, ...old];
    if (ids.length === 0) {
      await forgetDeleted(db, before);
      return 0;
    }
    await sql`delete from deliveries where id ${connection.dialect.oneOf(ids)}`.execute(db);
    return ids.length;
  });
}

async function chooseOfDeleted(
  db: Kysely<Tables>,
  { dialect }: Connection,
  limit: number,
): Promise<readonly string[]> {
  const deleted = await sql<{ id: string }>`
    select id from ${sql.table('deletedWebhooks')} as deleted
    where exists (select 1 from deliveries where "webhookId" = deleted.id and ${isPending})
      or exists (select 1 from deliveries where "webhookId" = deleted.id and ${isEnded})
    limit ${WEBHOOKS_AT_ONCE}`.execute(db);
  const webhookIds = deleted.rows.map((row) => row.id);
  const pending = await choose(db, dialect, { webhookIds, isMeant: isPending, limit });
  const left = limit - pending.length;
  return [...pending, ...(await choose(db, dialect, { webhookIds, isMeant: isEnded, limit: left }))];
}

/**
 * Finds old deliveries webhook by webhook with the index of the lists. An index by age alone would cost one more write for
 * every delivery.
 */
async function chooseOld(
  db: Kysely<Tables>,
  { dialect }: Connection,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<readonly string[]> {
  const isMeant = sql`${isEnded} and "createdAt" < ${before}`;
  const webhooks = await sql<{ id: string }>`
    select id from webhooks where exists (
      select 1 from deliveries where "webhookId" = webhooks.id and ${isMeant}
    ) limit ${WEBHOOKS_AT_ONCE}`.execute(db);
  return choose(db, dialect, { webhookIds: webhooks.rows.map((row) => row.id), isMeant, limit });
}

type Choice = {
  readonly webhookIds: readonly string[];
  /** A condition that implies the condition of an index: of pending deliveries, or of ended ones. */
  readonly isMeant: RawBuilder<unknown>;
  readonly limit: number;
};

async function choose(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  { webhookIds, isMeant, limit }: Choice,
): Promise<readonly string[]> {
  if (webhookIds.length === 0 || limit === 0) return [];
  const chosen = await sql<{ id: string }>`
    select id from deliveries where "webhookId" ${dialect.oneOf(webhookIds)} and ${isMeant}
    limit ${limit} ${dialect.lockFreeRows}`.execute(db);
  return chosen.rows.map((row) => row.id);
}

/**
 * Forgets deleted webhooks after the retention. A transaction that ran during the deletion may have stored more deliveries,
 * but ended long ago.
 */
async function forgetDeleted(db: Kysely<Tables>, before: number): Promise<void> {
  await db.deleteFrom('deletedWebhooks').where('deletedAt', '<', before).execute();
}
