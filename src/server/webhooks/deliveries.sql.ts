import { type Kysely, type RawBuilder, sql } from 'kysely';
import { DELIVERY_STATES } from '../../contract/deliveries.ts';
import { TEST_EVENT } from '../../contract/event-names.ts';
import type { SqlDialect, Statement } from '../platform/storage/engine.ts';
import { isBehind } from '../platform/storage/statements.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import { claimDeliveries, claimFollowing } from './claim-deliveries.sql.ts';
import {
  countByPart,
  countPending,
  type InsertedDelivery,
  insertDeliveries,
  insertOrdered,
  isEnded,
  isInState,
  listTried,
  loggedColumns,
  orderLocks,
  splitByOrder,
  toLogged,
} from './delivery-rows.sql.ts';
import { insertParcel, takeOverParcels, unpackAll, unpackOwn } from './parcels.sql.ts';
import { purgeDeliveries } from './purge-deliveries.sql.ts';
import { recordOutcomes } from './record-outcomes.sql.ts';
import type {
  ClaimRequest,
  Delivery,
  DeliveryJob,
  DeliveryQuery,
  DeliveryState,
  DeliveryStore,
  NewDelivery,
  Parcel,
} from './store.ts';
import { toWebhook } from './webhooks.sql.ts';

type LoggedRow = Parameters<typeof toLogged>[0];

export function createDeliveryStore(connection: Connection): DeliveryStore {
  const { db } = connection;
  return {
    insert: (deliveries, parcel) => insertAll(connection, deliveries, parcel),
    claim: (request) => claimJobs(connection, request),
    renew: (owner, ids, leaseUntil) =>
      changeLeases(connection, sql`"leaseUntil" = ${leaseUntil}`, isHeld(connection, owner, ids)),
    postpone: async (owner, ids, dueAt) => {
      const change = sql`"dueAt" = ${dueAt}, "leaseOwner" = null, "leaseUntil" = null`;
      await changeLeases(connection, change, isHeld(connection, owner, ids));
    },
    release: (owner, ids) => releaseLeases(connection, owner, ids),
    unpack: (owner, parcelIds, kept) => unpackOwn(connection, { owner, parcelIds }, kept),
    recordOutcomes: (owner, outcomes, emptied = []) =>
      recordOutcomes(connection, { owner, outcomes, emptied }),
    list: async (query) => (await listDeliveries(connection, query)).map(toLogged),
    find: async (webhookId, id) => {
      const { rows } = await sql<LoggedRow>`
        select ${loggedColumns} from deliveries where id = ${id} and "webhookId" = ${webhookId}
        union all select ${loggedColumns} from "parcelledDeliveries"
        where id = ${id} and "webhookId" = ${webhookId}`.execute(db);
      return rows.map(toLogged)[0];
    },
    countByPart: (query) => countByPart(connection, query),
    countPending: (webhookId, limit) => countPending(connection, webhookId, limit),
    listTried: (webhookId, limit) => listTried(connection, webhookId, limit),
    replay: (webhookId, id, now) => replayDelivery(connection, { webhookId, id, now }),
    replayFailed: (webhookId, since, now) => replayFailed(connection, { webhookId, since, now }),
    nextClaimableAt: (exceptWebhooks) => nextClaimableAt(connection, exceptWebhooks),
    bringForward: (latest) => bringForward(connection, latest),
    purge: (before, limit) => purgeDeliveries(connection, before, limit),
  };
}

async function insertAll(
  { atomically, dialect, runAtCommit }: Connection,
  deliveries: readonly NewDelivery[],
  parcel: Parcel | undefined,
): Promise<ReadonlySet<string>> {
  const waiting = new Set<string>();
  const always = sql`true`;
  const { ordered, unordered } = splitByOrder(deliveries);
  const statements: readonly Statement<InsertedDelivery>[] = [
    ...orderLocks(dialect, ordered),
    ...(unordered.length === 0 ? [] : [{ sql: insertDeliveries(dialect, unordered, always) }]),
    ...(parcel === undefined ? [] : [{ sql: insertParcel(parcel, always) }]),
    ...(ordered.length === 0 ? [] : [{ sql: insertOrdered(dialect, ordered, always) }]),
  ];
  if (statements.length === 0) return waiting;
  await atomically((db) =>
    runAtCommit(db, statements, (rows) => {
      for (const { id, isWaiting } of rows) if (isWaiting === 1) waiting.add(id);
    }),
  );
  return waiting;
}

/** The webhooks and events are read once each, however many deliveries share them. */
async function claimJobs(
  { db, dialect, atomically }: Connection,
  request: ClaimRequest,
): Promise<readonly DeliveryJob[]> {
  // On SQLite the transaction shares one commit with other writes of the same moment.
  const [parcelled, first, next] = await atomically(async (inside) => {
    const unpacked = await takeOverParcels(dialect, inside, request);
    const { rows } = await claimDeliveries(dialect, request).execute(inside);
    const following = claimFollowing(dialect, request, rows);
    return [unpacked, rows, following === undefined ? [] : (await following.execute(inside)).rows] as const;
  });
  const claimed = [...first, ...next];
  const takenOver = parcelled + (first[0]?.takenOver ?? 0) + (next[0]?.takenOver ?? 0);
  if (takenOver > 0) request.onTakeover?.(takenOver);
  const rows = claimed.map(({ takenOver: _, ...delivery }) => delivery);
  if (rows.length === 0) return [];
  const webhookIds = [...new Set(rows.map((row) => row.webhookId))];
  const eventIds = [...new Set(rows.map((row) => row.eventId))];
  const webhooks = await db
    .selectFrom('webhooks')
    .selectAll()
    .where(sql<boolean>`id ${dialect.oneOf(webhookIds)}`)
    .execute();
  const events = await db
    .selectFrom('events')
    .select(['id', 'roomSid', 'payload', 'occurredAt', 'traceparent', 'position'])
    .where(sql<boolean>`id ${dialect.oneOf(eventIds)}`)
    .execute();
  const webhooksById = new Map(webhooks.map((row) => [row.id, toWebhook(row)]));
  const eventsById = new Map(events.map((event) => [event.id, event]));
  const jobs = rows.flatMap((delivery) => {
    const webhook = webhooksById.get(delivery.webhookId);
    const event = eventsById.get(delivery.eventId);
    // Deliveries of a webhook that was deleted since the claim are not sent.
    return webhook === undefined || event === undefined ? [] : [{ delivery, webhook, event }];
  });
  const findDueTime = dueTimes(rows);
  return jobs
    .sort(
      (one, other) =>
        findDueTime(one.delivery) - findDueTime(other.delivery) || one.event.position - other.event.position,
    )
    .map(({ delivery, webhook, event: { position: _, ...event } }) => ({ delivery, webhook, event }));
}

/** Returns when deliveries are due. All deliveries of an order are due together with its first one, which may be a retry. */
function dueTimes(claimed: readonly Delivery[]): (delivery: Delivery) => number {
  const firstByOrder = new Map(
    claimed.filter(({ waiting }) => waiting === null).map((first) => [toOrder(first), first.dueAt]),
  );
  return (delivery) =>
    (delivery.orderingKey === null ? undefined : firstByOrder.get(toOrder(delivery))) ?? delivery.dueAt;
}

function toOrder({ webhookId, orderingKey }: Delivery): string {
  return `${webhookId} ${orderingKey}`;
}

function isHeld({ dialect }: Connection, owner: string, ids: readonly string[]): RawBuilder<unknown> {
  return sql`id ${dialect.oneOf(ids)} and "leaseOwner" = ${owner}`;
}

/** Skips rows whose outcome is being recorded at this moment: they need no lease any more. */
async function changeLeases(
  { db, dialect }: Connection,
  change: RawBuilder<unknown>,
  isMeant: RawBuilder<unknown>,
): Promise<readonly string[]> {
  const changed = await sql<{ id: string }>`
    update deliveries set ${change} where id in (
      select id from deliveries where ${isMeant} ${dialect.lockFreeRows}
    ) returning id`.execute(db);
  return changed.rows.map(({ id }) => id);
}

/**
 * Notifies the other instances, which claim the deliveries of a closing instance at once, and those behind the ones that it
 * has just ended.
 */
async function releaseLeases(connection: Connection, owner: string, ids: readonly string[]): Promise<number> {
  const { db, changes } = connection;
  const change = sql`"leaseOwner" = null, "leaseUntil" = null`;
  const unpacked = await unpackAll(connection, owner);
  const released = await changeLeases(connection, change, isHeld(connection, owner, ids));
  changes.note(db, 'events');
  return unpacked + released.length;
}

/**
 * Scans an index once for each state, in the order of the list. The scan of the pending state ends with the page: until a
 * vacuum PostgreSQL keeps an index entry of every delivery that ever was pending, and would have to pass all of them.
 */
async function listDeliveries({ db }: Connection, query: DeliveryQuery): Promise<readonly LoggedRow[]> {
  const { state, limit, eventId } = query;
  if (eventId !== undefined) return await listOfEvent(db, query, eventId);
  const newest = sql`order by "createdAt" desc, id desc limit ${limit}`;
  const pending = (since: RawBuilder<unknown>) => sql<LoggedRow>`
    select * from (${listState(query, 'pending', since)}) as pending
    union all select * from (${listParcelled(query)}) as parcelled`;
  if (state === 'pending') return (await sql<LoggedRow>`${pending(sql`0`)} ${newest}`.execute(db)).rows;
  if (state !== undefined) return (await listState(query, state, sql`0`).execute(db)).rows;
  const lists = ENDED_STATES.map((one) => sql`select * from (${listState(query, one, sql`0`)}) as one_state`);
  const pageBegins = sql`(select case when count(*) = ${limit} then min("createdAt") else 0 end from ended)`;
  const { rows } = await sql<LoggedRow>`
    with ended as materialized (${sql.join(lists, sql` union all `)} ${newest})
    select * from ended union all ${pending(pageBegins)} ${newest}`.execute(db);
  return rows;
}

/**
 * A delivery is created at the instant of its event, so that the indexes of the lists find it. An index by event would cost
 * one more write for every delivery.
 */
async function listOfEvent(
  db: Connection['db'],
  { webhookId, state, limit, after }: DeliveryQuery,
  eventId: string,
): Promise<readonly LoggedRow[]> {
  const states = state === undefined ? [isInState('pending'), isEnded] : [isInState(state)];
  const ofEvent = states.map(
    (isMeant) => sql`
      select ${loggedColumns} from deliveries
      where "webhookId" = ${webhookId} and ${isMeant} and "eventId" = ${eventId}
        and "createdAt" = (select "createdAt" from events where id = ${eventId}) and ${isAfter(after)}`,
  );
  const parcelled = sql`
    select ${loggedColumns} from "parcelledDeliveries"
    where "webhookId" = ${webhookId} and "eventId" = ${eventId} and ${isAfter(after)}`;
  if (state === undefined || state === 'pending') ofEvent.push(parcelled);
  const { rows } = await sql<LoggedRow>`
    ${sql.join(ofEvent, sql` union all `)} order by "createdAt" desc, id desc limit ${limit}`.execute(db);
  return rows;
}

function isAfter(after: DeliveryQuery['after']): RawBuilder<boolean> {
  return isBehind(['createdAt', 'id'], '<', after && [after.createdAt, after.id]);
}

const ENDED_STATES = DELIVERY_STATES.filter((state) => state !== 'pending');

/**
 * Lists the deliveries of one state from `since` on, the newest first. Each state has a query of its own, because pending
 * deliveries have an index of their own, and the other one is in the order of the list within a state. The instants have
 * bounds on both sides, because PostgreSQL then expects few rows even of a table without statistics, and scans the index in
 * order.
 */
function listState(
  { webhookId, limit, after }: DeliveryQuery,
  state: DeliveryState,
  since: RawBuilder<unknown>,
): RawBuilder<LoggedRow> {
  const until = after?.createdAt ?? Number.MAX_SAFE_INTEGER;
  return sql`
    select ${loggedColumns} from deliveries
    where "webhookId" = ${webhookId} and ${isInState(state)}
      and "createdAt" between ${since} and ${until} and ${isAfter(after)}
    order by "createdAt" desc, id desc limit ${limit}`;
}

/** The deliveries of the webhook that only parcels have, in the order of the list. They are few. */
function listParcelled({ webhookId, limit, after }: DeliveryQuery): RawBuilder<LoggedRow> {
  return sql`
    select ${loggedColumns} from "parcelledDeliveries"
    where "webhookId" = ${webhookId} and ${isAfter(after)} order by "createdAt" desc, id desc limit ${limit}`;
}

/** Shortens waits that are longer than any retry makes them, as after the clock was set back. */
async function bringForward({ db }: Connection, latest: number): Promise<void> {
  const noLater = (name: 'dueAt' | 'leaseUntil') =>
    sql`${sql.ref(name)} = case when ${sql.ref(name)} > ${latest} then ${latest} else ${sql.ref(name)} end`;
  await sql`
    update deliveries set ${noLater('dueAt')}, ${noLater('leaseUntil')}
    where state = 'pending' and "claimableAt" > ${latest}`.execute(db);
  await sql`update parcels set "leaseUntil" = ${latest} where "leaseUntil" > ${latest}`.execute(db);
}

async function nextClaimableAt(
  { db, dialect }: Connection,
  exceptWebhooks: readonly string[],
): Promise<number | undefined> {
  const { rows } = await sql<{ next: number | null }>`
    select min(first) as next from (
      select (
        select min("claimableAt") from deliveries
        where "webhookId" = webhooks.id and state = 'pending' and waiting is null
      ) as first
      from webhooks where "pausedAt" is null and id ${dialect.noneOf(exceptWebhooks)}
      union all select min("leaseUntil") from parcels
    ) as firsts`.execute(db);
  return rows[0]?.next ?? undefined;
}

/** Limits the time for which one batch makes other writers wait. */
const REPLAYED_AT_ONCE = 500;

type Replay = { readonly webhookId: string; readonly id: string; readonly now: number };

async function replayDelivery(connection: Connection, replay: Replay): Promise<boolean> {
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
async function replayFailed(connection: Connection, replay: ReplayOfFailed): Promise<number> {
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
      : isBehind(['createdAt', 'id'], '>', [after.createdAt, after.id]);
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
