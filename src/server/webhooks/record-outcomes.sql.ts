import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { SqlDialect, Statement } from '../platform/storage/engine.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import {
  advanceOrders,
  appendToLog,
  type DeliveryOrder,
  giveBackWaiting,
  readLog,
} from './delivery-rows.sql.ts';
import { recordParcelled } from './parcels.sql.ts';
import type { Delivery, DeliveryOutcome } from './store.ts';

type Database = Kysely<Tables>;
type LockedRow = Pick<Delivery, 'id' | 'leaseOwner' | 'webhookId' | 'orderingKey'> & {
  readonly log: string | null;
};

/** The name of the statement that stores the outcomes of first attempts on PostgreSQL. */
const RECORD_FIRST_ATTEMPTS = 'record-first-attempts';

/** Outcomes that an instance stores together, and the parcels of which they are the last ones. */
type Recording = {
  readonly owner: string;
  readonly outcomes: readonly DeliveryOutcome[];
  readonly emptied: readonly string[];
};

/**
 * Stores outcomes. Those of first attempts take one statement where the owner has their parcels, and one where it has their
 * leases, however many there are; the others take two to four more, and up to three more where some have a place in an order.
 */
export async function recordOutcomes(connection: Connection, recording: Recording): Promise<void> {
  const { owner, emptied } = recording;
  const [first, ...repeated] = withoutRepetitions(recording.outcomes);
  if (first === undefined) return;
  const { atomically, dialect, changes } = connection;
  const parcelled = recordParcelled(dialect, first, { owner, emptied });
  const packed = await recordFirst(connection, first, parcelled);
  const rest = first.filter(({ attempt }) => !packed.has(attempt.deliveryId));
  const recordRows = dialect.engine === 'SQLite' ? firstAttemptsOnSqlite : firstAttemptsOnPostgres;
  const statements = rest.length === 0 ? [] : [recordRows(dialect, owner, rest)];
  const recorded = await recordFirst(connection, rest, statements);
  const others = rest.filter(({ attempt }) => !recorded.has(attempt.deliveryId));
  const batches = others.length === 0 ? repeated : [others, ...repeated];
  if (batches.length === 0) return;
  await atomically(async (db) => {
    const advanced: DeliveryOrder[] = [];
    const stopped: DeliveryOrder[] = [];
    for (const batch of batches) {
      const orders = await recordBatch(db, dialect, { owner, batch });
      advanced.push(...orders.advanced);
      stopped.push(...orders.stopped);
    }
    await giveBackWaiting(connection, db, { owner, orders: stopped });
    await advanceOrders(connection, db, advanced);
    if (batches.flat().some(isEnd)) changes.note(db, 'deliveries');
  });
}

function isEnd({ next }: DeliveryOutcome): boolean {
  return next.state !== 'pending';
}

/**
 * Records those of the outcomes that are of a first attempt under the owner's lease, without a place in an order, and
 * returns the ids of their deliveries. A batch that is repeated for want of a response finds none: what it stored has an attempt.
 */
async function recordFirst(
  { atomically, changes, runAtCommit }: Connection,
  outcomes: readonly DeliveryOutcome[],
  statements: readonly Statement<{ id: string }>[],
): Promise<ReadonlySet<string>> {
  const recorded = new Set<string>();
  if (statements.length === 0) return recorded;
  await atomically(async (db) => {
    await runAtCommit(db, statements, (rows) => {
      for (const { id } of rows) recorded.add(id);
    });
    if (outcomes.some(isEnd)) changes.note(db, 'deliveries');
  });
  return recorded;
}

const MOVED = sql`
  state = outcome.state, "dueAt" = coalesce(outcome."dueAt", deliveries."dueAt"), "endedAt" = outcome."endedAt",
  attempts = attempts + 1, "roundAttempts" = "roundAttempts" + 1, "leaseOwner" = null, "leaseUntil" = null,
  log = outcome.log`;

/** The rows are locked in the order of their ids, as everywhere, so that nobody waits for another in a circle. */
function firstAttemptsOnPostgres(
  dialect: SqlDialect,
  owner: string,
  outcomes: readonly DeliveryOutcome[],
): Statement<{ id: string }> {
  const ids = outcomes.map(({ attempt }) => attempt.deliveryId);
  const text = sql<{ id: string }>`
    with held as materialized (
      select id from deliveries where id ${dialect.oneOf(ids)} and "leaseOwner" = ${owner} and attempts = 0
        and "orderingKey" is null
      order by id for update
    )
    update deliveries set ${MOVED} from ${moves(dialect, outcomes, new Map())} as outcome
    where deliveries.id = outcome.id and deliveries.id = any(array(select id from held)) returning deliveries.id`;
  return { name: RECORD_FIRST_ATTEMPTS, sql: text };
}

/**
 * The plus signs keep SQLite from the index of leases: it would join all deliveries of the owner with all outcomes, instead
 * of finding one delivery for each.
 */
function firstAttemptsOnSqlite(
  dialect: SqlDialect,
  owner: string,
  outcomes: readonly DeliveryOutcome[],
): Statement<{ id: string }> {
  return {
    sql: sql`
      update deliveries set ${MOVED} from ${moves(dialect, outcomes, new Map())} as outcome
      where deliveries.id = outcome.id and +"leaseOwner" = ${owner} and +attempts = 0 and +"orderingKey" is null
      returning id`,
  };
}

type LockedRows = ReadonlyMap<string, LockedRow>;

/** One row for each outcome, with what becomes of its delivery. */
function moves(
  dialect: SqlDialect,
  outcomes: readonly DeliveryOutcome[],
  rows: LockedRows,
): RawBuilder<unknown> {
  const listed = outcomes.map(({ attempt, next }) => ({
    id: attempt.deliveryId,
    state: next.state,
    dueAt: next.state === 'pending' ? next.dueAt : null,
    endedAt: next.state === 'pending' ? null : next.endedAt,
    log: appendToLog(rows.get(attempt.deliveryId)?.log ?? null, attempt),
  }));
  return dialect.rows(listed, {
    id: 'text',
    state: 'text',
    dueAt: 'integer',
    endedAt: 'integer',
    log: 'text',
  });
}

type OutcomeBatch = { readonly owner: string; readonly batch: readonly DeliveryOutcome[] };

type RecordedOrders = {
  /** Orders of which a delivery has ended. */
  readonly advanced: readonly DeliveryOrder[];
  /** Orders of which a delivery was not delivered. */
  readonly stopped: readonly DeliveryOrder[];
};

async function recordBatch(
  db: Database,
  dialect: SqlDialect,
  { owner, batch }: OutcomeBatch,
): Promise<RecordedOrders> {
  const ids = batch.map(({ attempt }) => attempt.deliveryId);
  const locked = await sql<LockedRow>`
    select id, "leaseOwner", "webhookId", "orderingKey", log from deliveries
    where id ${dialect.oneOf(ids)} order by id ${dialect.lockRows}
  `.execute(db);
  const rows = new Map(locked.rows.map((row) => [row.id, row]));
  const isHeld = ({ attempt }: DeliveryOutcome) => rows.get(attempt.deliveryId)?.leaseOwner === owner;
  const known = batch.filter(({ attempt }) => rows.has(attempt.deliveryId));
  // A batch is repeated when the response of its commit was lost.
  const [repeated, fresh] = partition(known, (outcome) => isLogged(outcome, rows));
  const [held, lost] = partition(fresh, isHeld);
  const claimedSince = repeated.filter(isHeld);
  if (held.length > 0) {
    await sql`
      update deliveries set ${MOVED} from ${moves(dialect, held, rows)} as outcome
      where deliveries.id = outcome.id`.execute(db);
  }
  if (lost.length > 0) {
    await sql`
      update deliveries set attempts = attempts + 1, log = outcome.log from ${moves(dialect, lost, rows)} as outcome
      where deliveries.id = outcome.id`.execute(db);
  }
  if (claimedSince.length > 0) await releaseReclaimed(db, dialect, claimedSince);
  const listOrders = (outcomes: readonly DeliveryOutcome[]) =>
    outcomes.flatMap(({ attempt }) => findOrder(rows.get(attempt.deliveryId)));
  return {
    advanced: listOrders(held.filter(isEnd)),
    stopped: listOrders(batch.filter(({ next }) => next.state !== 'delivered')),
  };
}

function partition<T>(
  all: readonly T[],
  isMeant: (one: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  return [all.filter(isMeant), all.filter((one) => !isMeant(one))];
}

function isLogged({ attempt }: DeliveryOutcome, rows: LockedRows): boolean {
  return readLog(rows.get(attempt.deliveryId)?.log ?? null).some(
    ({ startedAt, durationMs }) => startedAt === attempt.startedAt && durationMs === attempt.durationMs,
  );
}

function findOrder(row: LockedRow | undefined): readonly DeliveryOrder[] {
  return row === undefined || row.orderingKey === null
    ? []
    : [{ webhookId: row.webhookId, orderingKey: row.orderingKey }];
}

/**
 * Splits the outcomes into batches that have each delivery only once. An instance that lost a lease and claimed the delivery
 * again has two outcomes for it.
 */
function withoutRepetitions(outcomes: readonly DeliveryOutcome[]): readonly (readonly DeliveryOutcome[])[] {
  const batches: Map<string, DeliveryOutcome>[] = [];
  for (const outcome of outcomes) {
    const id = outcome.attempt.deliveryId;
    const batch = batches.find((one) => !one.has(id));
    if (batch === undefined) batches.push(new Map([[id, outcome]]));
    else batch.set(id, outcome);
  }
  return batches.map((batch) => [...batch.values()]);
}

/**
 * Releases deliveries that the owner claimed again before it received the response of the commit that stored their attempt.
 * The owner has not started the next attempt, because it never holds a delivery twice.
 */
async function releaseReclaimed(
  db: Database,
  dialect: SqlDialect,
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  const ids = outcomes.map(({ attempt }) => attempt.deliveryId);
  await sql`
    update deliveries set "leaseOwner" = null, "leaseUntil" = null where id ${dialect.oneOf(ids)}`.execute(
    db,
  );
}
