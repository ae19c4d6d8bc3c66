import { type Kysely, sql } from 'kysely';
import { TEST_EVENT } from '../../contract/event-names.ts';
import type { Connection, SqlDialect } from '../platform/storage/engine.ts';
import type { Tables } from '../platform/storage/schema/tables.ts';
import { isEnded, isInState } from './delivery-columns.sql.ts';

/** Limits the time for which one batch makes other writers wait. */
const REPLAYED_AT_ONCE = 500;

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

/**
 * Works in batches in the order of (createdAt, id), each in a transaction of its own, so that no delivery is replayed twice.
 */
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
      where "webhookId" = ${webhookId} and ${isInState('failed')} and ${isNext} and "eventName" <> ${TEST_EVENT}
      order by "createdAt", id limit ${REPLAYED_AT_ONCE}`.execute(db);
    // Locks the rows in the order in which recordOutcomes locks them, which prevents a deadlock.
    const chosen = await sql<Chosen>`
      select id, "eventId", "createdAt" from deliveries
      where id ${dialect.oneOf(rows.map((row) => row.id))} and state = 'failed' order by id ${dialect.lockRows}
    `.execute(db);
    const replayed = await beginRound(db, dialect, { webhookId, chosen: chosen.rows, now });
    return { replayed, last: rows.length === REPLAYED_AT_ONCE ? rows.at(-1) : undefined };
  });
}

type Round = { readonly webhookId: string; readonly chosen: readonly Chosen[]; readonly now: number };

/**
 * Makes deliveries pending again whose webhook and event still exist. The events are locked against a purge until the
 * commit. A replayed delivery has no place in an order any more, because the deliveries behind it have gone on without it.
 */
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
    update deliveries set
      state = 'pending', "dueAt" = ${now}, "endedAt" = null, "roundAttempts" = 0, "orderingKey" = null, waiting = null
    where id ${dialect.oneOf(ids)}`.execute(db);
  return Number(begun.numAffectedRows ?? 0);
}
