import { sql } from 'kysely';
import type { Connection } from '../platform/storage/engine.ts';
import type { WebhookRow } from '../platform/storage/schema/tables.ts';
import { cancelDeliveries } from './purge-deliveries.sql.ts';
import type { Webhook, WebhookChange, WebhookStore } from './store.ts';

export function createWebhookStore(connection: Connection): WebhookStore {
  const { db } = connection;
  return {
    insert: async (webhook) => {
      await db
        .insertInto('webhooks')
        .values({ ...webhook, events: JSON.stringify(webhook.events) })
        .execute();
    },
    list: async () => {
      const rows = await db.selectFrom('webhooks').selectAll().orderBy('createdAt').orderBy('id').execute();
      return rows.map(toWebhook);
    },
    find: async (id) => {
      const row = await db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toWebhook(row);
    },
    lock: async (id) => {
      const { rows } = await sql<WebhookRow>`
        select * from webhooks where id = ${id} ${connection.dialect.lockRows}`.execute(db);
      return rows[0] && toWebhook(rows[0]);
    },
    update: (id, change) => updateWebhook(connection, id, change),
    replaceSecrets: async ({ id, secret, previousSecret }, secrets) => {
      const { numUpdatedRows } = await db
        .updateTable('webhooks')
        .set(secrets)
        .where('id', '=', id)
        .where('secret', '=', secret)
        .where('previousSecret', 'is not distinct from', previousSecret)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
    delete: (id, now) => deleteWebhook(connection, id, now),
  };
}

export function toWebhook(row: WebhookRow): Webhook {
  return { ...row, events: JSON.parse(row.events) as readonly string[] };
}

async function updateWebhook(
  { db }: Connection,
  id: string,
  { events, ...change }: WebhookChange,
): Promise<Webhook | undefined> {
  const row = await db
    .updateTable('webhooks')
    .set({ ...change, ...(events === undefined ? {} : { events: JSON.stringify(events) }) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && toWebhook(row);
}

/** The webhook's row goes first: from then on nothing of it is claimed, even if the rest has to wait for a purge. */
async function deleteWebhook(connection: Connection, id: string, now: number): Promise<boolean> {
  const isDeleted = await connection.atomically(async (db) => {
    const { numDeletedRows } = await db.deleteFrom('webhooks').where('id', '=', id).executeTakeFirst();
    if (numDeletedRows === 0n) return false;
    await db.insertInto('deletedWebhooks').values({ id, deletedAt: now }).execute();
    return true;
  });
  if (isDeleted) await cancelDeliveries(connection, id, now);
  return isDeleted;
}
