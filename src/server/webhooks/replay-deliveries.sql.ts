import { type Kysely, sql } from 'kysely';
import { TEST_EVENT } from '../../contract/event-names.ts';
import type { Connection, SqlDialect } from '../platform/storage/engine.ts';
import type { Tables } from '../platform/storage/schema/tables.ts';

/** Bounds how long others wait for one of many. */
const REPLAYED_AT_ONCE = 500;

const isEnded = sql`state in ('delivered', 'failed', 'cancelled')`;

type Replay = { readonly webhookId: string; readonly id: string; readonly now: number };

export async function replayDelivery(connection: Connection, replay: Replay): Promise<boolean> {
  const { webhookId, id, now } = replay;
  return connection.atomically(async (db) => {
    const chosen = await sql<Chosen>`
      select id, "eventId", "createdAt" from deliveries
      where id = ${id} and "webhookId" = ${webhookId} and ${isEnded} ${connection.dialect.lockRows}`.execute(
      db,
    );
    return (await beginRound(db, connection.dialect, { webhookId, chosen: chosen.rows, now })) === 1;
  });
}

type ReplayOfFailed = { readonly webhookId: string; readonly since: number; readonly now: number };

/** In batches along (createdAt, id), each in a transaction of its own; none is met twice. */
export async function replayFailed(connection: Connection, replay: ReplayOfFailed): Promise<number> {
  let replayed = 0;
  let after: Chosen | undefined;
  do {
    const batch = await replaySome(connection, replay, after);
    replayed += batch.replayed;
    after = batch.last;
  } while (after !== undefined);
  return replayed;
}

type Chosen = { readonly id: string; readonly eventId: string; readonly createdAt: number };

function replaySome({ atomically, dialect }: Connection, replay: ReplayOfFailed, after: Chosen | undefined) {
  const { webhookId, since, now } = replay;
  const isNext =
    after === undefined
      ? sql`"createdAt" >= ${since}`
      : sql`("createdAt", id) > (${after.createdAt}, ${after.id})`;
  return atomically(async (db) => {
    const { rows } = await sql<Chosen>`
      select id, "eventId", "createdAt" from deliveries
      where "webhookId" = ${webhookId} and state = 'failed' and ${isNext} and "eventName" <> ${TEST_EVENT}
      order by "createdAt", id limit ${REPLAYED_AT_ONCE}`.execute(db);
    // Locked in the order in which settling locks, so that neither waits for the other in a circle.
    const chosen = await sql<Chosen>`
      select id, "eventId", "createdAt" from deliveries
      where id ${dialect.oneOf(rows.map((row) => row.id))} and state = 'failed' order by id ${dialect.lockRows}
    `.execute(db);
    const replayed = await beginRound(db, dialect, { webhookId, chosen: chosen.rows, now });
    return { replayed, last: rows.length === REPLAYED_AT_ONCE ? rows.at(-1) : undefined };
  });
}

type Round = { readonly webhookId: string; readonly chosen: readonly Chosen[]; readonly now: number };

/** Only of what can be sent: the webhook and the event are there, and locked against a purge until the end. */
async function beginRound(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  { webhookId, chosen, now }: Round,
): Promise<number> {
  const webhook = await sql`select 1 from webhooks where id = ${webhookId}`.execute(db);
  if (webhook.rows.length === 0 || chosen.length === 0) return 0;
  const eventIds = [...new Set(chosen.map((row) => row.eventId))];
  const events = await sql<{ id: string }>`
    select id from events where id ${dialect.oneOf(eventIds)} order by id ${dialect.lockRows}`.execute(db);
  const kept = new Set(events.rows.map((event) => event.id));
  const ids = chosen.filter((row) => kept.has(row.eventId)).map((row) => row.id);
  const begun = await sql`
    update deliveries set state = 'pending', "dueAt" = ${now}, "endedAt" = null, "roundAttempts" = 0
    where id ${dialect.oneOf(ids)}`.execute(db);
  return Number(begun.numAffectedRows ?? 0);
}
