import { type Kysely, sql } from 'kysely';
import type { RoomPrefixes } from '../../contract/keys.ts';
import type { Clock } from '../platform/clock.ts';
import { columnList, isBehind } from '../platform/storage/statements.ts';
import type { Connection, Tables, WebhookRow } from '../schema/tables.ts';
import { cancelDeliveries } from './purge-deliveries.sql.ts';
import type { Webhook, WebhookChange, WebhookLimits, WebhookPage, WebhookStore } from './store.ts';

export function createWebhookStore(connection: Connection, registrations: RegistrationCache): WebhookStore {
  const { db } = connection;
  return {
    insert: (webhook) =>
      changeRegistrations(connection, async (inside) => {
        await inside.insertInto('webhooks').values(toRow(webhook)).execute();
      }),
    insertBelow: (limits, webhook) => insertBelow(connection, limits, toRow(webhook)),
    countOfKey: async (keyId) => {
      const { rows } = await sql<{ count: number }>`select ${countOfKey(keyId)} as count`.execute(db);
      return rows[0]?.count ?? 0;
    },
    list: (page) => listWebhooks(connection, page),
    listRegistrations: async (version) =>
      registrations.get(version ?? (await readVersion(db)), () => listWebhooks(connection)),
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
    replaceSecrets: ({ id, secret, previousSecret }, secrets) =>
      changeRegistrations(connection, async (inside) => {
        const { numUpdatedRows } = await inside
          .updateTable('webhooks')
          .set(secrets)
          .where('id', '=', id)
          .where('secret', '=', secret)
          .where('previousSecret', 'is not distinct from', previousSecret)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      }),
    delete: (id, now) => deleteWebhook(connection, id, now),
  };
}

export function toWebhook(row: WebhookRow): Webhook {
  return {
    ...row,
    events: JSON.parse(row.events) as readonly string[],
    rooms: row.rooms === null ? null : (JSON.parse(row.rooms) as readonly string[]),
  };
}

function toRow(webhook: Webhook): WebhookRow {
  const { events, rooms } = webhook;
  return { ...webhook, events: JSON.stringify(events), rooms: rooms && formatRooms(rooms) };
}

/** The same rooms are the same text, so that an index finds the webhooks of keys with the same rooms. */
function formatRooms(rooms: RoomPrefixes): string {
  return JSON.stringify(rooms.toSorted());
}

const COLUMNS = {
  id: 'text',
  url: 'text',
  events: 'text',
  secret: 'text',
  previousSecret: 'text',
  previousSecretUntil: 'integer',
  ordering: 'text',
  createdBy: 'text',
  rooms: 'text',
  pausedAt: 'integer',
  createdAt: 'integer',
  updatedAt: 'integer',
} as const satisfies Record<keyof WebhookRow, 'text' | 'integer'>;

/**
 * Increments the version before it counts the webhooks. The increment locks a row; without the lock several instances could
 * count at once, and all would insert one more.
 */
async function insertBelow(
  { atomically, dialect, runAtCommit }: Connection,
  { total, ofKey }: WebhookLimits,
  row: WebhookRow,
): Promise<boolean> {
  const columns = columnList(Object.keys(COLUMNS));
  const insert = sql`
    insert into webhooks (${columns}) select ${columns} from ${dialect.rows([row], COLUMNS)} as listed
    where (select count(*) from webhooks) < ${total} and ${countOfKey(row.createdBy)} < ${ofKey} returning id`;
  let isInserted = false;
  await atomically((db) =>
    runAtCommit(db, [{ sql: countUpVersion }, { sql: insert }], (rows) => {
      isInserted ||= rows.length > 0;
    }),
  );
  return isInserted;
}

function countOfKey(keyId: string) {
  return sql<number>`(select count(*) from webhooks where "createdBy" = ${keyId})`;
}

async function listWebhooks({ db }: Connection, page?: WebhookPage): Promise<readonly Webhook[]> {
  let query = db.selectFrom('webhooks').selectAll().orderBy('createdAt').orderBy('id');
  const { after, limit, rooms } = page ?? {};
  if (rooms !== undefined) query = query.where('rooms', '=', formatRooms(rooms));
  query = query.where(isBehind(['createdAt', 'id'], '>', after && [after.createdAt, after.id]));
  if (limit !== undefined) query = query.limit(limit);
  return (await query.execute()).map(toWebhook);
}

/** Counter of the changes of all registrations. */
const VERSION_COUNTER = 'webhooks';

const countUpVersion = sql`
  insert into counters (name, value) values (${VERSION_COUNTER}, 1)
  on conflict (name) do update set value = counters.value + 1`;

/** Selects how often a registration was changed. */
export const registrationsVersion = sql<number>`
  (select coalesce(max(value), 0) from counters where name = ${sql.lit(VERSION_COUNTER)})`;

async function readVersion(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ version: number }>`select ${registrationsVersion} as version`.execute(db);
  return rows[0]?.version ?? 0;
}

/** Runs `change` in a transaction that increments the version. */
function changeRegistrations<T>(
  { atomically, runAtCommit }: Connection,
  change: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return atomically(async (db) => {
    const value = await change(db);
    await runAtCommit(db, [{ sql: countUpVersion }]);
    return value;
  });
}

function updateWebhook(
  connection: Connection,
  id: string,
  { events, ...change }: WebhookChange,
): Promise<Webhook | undefined> {
  return changeRegistrations(connection, async (db) => {
    const row = await db
      .updateTable('webhooks')
      .set({ ...change, ...(events === undefined ? {} : { events: JSON.stringify(events) }) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row && toWebhook(row);
  });
}

/**
 * Deletes the webhook's row first. From then on none of its deliveries is claimed, even if a later purge has to delete them.
 */
async function deleteWebhook(connection: Connection, id: string, now: number): Promise<boolean> {
  const isDeleted = await changeRegistrations(connection, async (db) => {
    const { numDeletedRows } = await db.deleteFrom('webhooks').where('id', '=', id).executeTakeFirst();
    if (numDeletedRows === 0n) return false;
    await db.insertInto('deletedWebhooks').values({ id, deletedAt: now }).execute();
    return true;
  });
  if (isDeleted) await cancelDeliveries(connection, id, now);
  if (isDeleted) connection.changes.note(connection.db, 'deliveries');
  return isDeleted;
}

/**
 * The version changes with every change that this program makes, on any instance. Changes by an older version of the program
 * during an upgrade, or by an administrator in the database, are seen after this time.
 */
const MAX_AGE_MS = 10_000;

type Entry = {
  readonly version: number;
  readonly readAt: number;
  readonly webhooks: readonly Webhook[];
};

/** All registrations of webhooks in memory, so that they are not read and decoded for every event. */
export class RegistrationCache {
  readonly #clock: Clock;
  #entry: Entry | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the cached registrations of `version`, or calls `read`. */
  async get(version: number, read: () => Promise<readonly Webhook[]>): Promise<readonly Webhook[]> {
    const now = this.#clock.monotonic();
    const entry = this.#entry;
    if (entry !== undefined && entry.version === version && now - entry.readAt < MAX_AGE_MS) {
      return entry.webhooks;
    }
    const webhooks = await read();
    this.#entry = { version, readAt: now, webhooks };
    return webhooks;
  }
}
