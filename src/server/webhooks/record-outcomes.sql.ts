import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { SqlDialect, Statement } from '../platform/storage/engine.ts';
import { columnList, sanitizeText } from '../platform/storage/statements.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import { advanceOrders, type DeliveryOrder, giveBackWaiting } from './delivery-rows.sql.ts';
import type { Attempt, Delivery, DeliveryOutcome } from './store.ts';

type Database = Kysely<Tables>;
type LockedRow = Pick<Delivery, 'id' | 'attempts' | 'leaseOwner' | 'webhookId' | 'orderingKey'>;

/** The name of the statement that stores the outcomes of first attempts on PostgreSQL. */
export const RECORD_FIRST_ATTEMPTS = 'record-first-attempts';

/**
 * Stores outcomes. Those of first attempts whose lease is held take one statement on PostgreSQL and two on SQLite, however
 * many there are; the others take four or five more, and up to three more where some have a place in an order.
 */
export async function recordOutcomes(
  connection: Connection,
  owner: string,
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  const [first, ...repeated] = withoutRepetitions(outcomes);
  if (first === undefined) return;
  const { atomically, dialect, changes } = connection;
  const recorded = await recordFirstAttempts(connection, owner, first);
  const others = first.filter(({ attempt }) => !recorded.has(attempt.deliveryId));
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
 * Records those of the outcomes that are of a first attempt under the owner's lease, without a place in an order, and returns the ids of their
 * deliveries. A batch that is repeated for want of a response finds none: what it stored has an attempt.
 */
async function recordFirstAttempts(
  { atomically, dialect, changes, runAtCommit }: Connection,
  owner: string,
  outcomes: readonly DeliveryOutcome[],
): Promise<ReadonlySet<string>> {
  const recorded = new Set<string>();
  const statements =
    dialect.engine === 'SQLite'
      ? firstAttemptsOnSqlite(dialect, owner, outcomes)
      : firstAttemptsOnPostgres(dialect, owner, outcomes);
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
  attempts = attempts + 1, "roundAttempts" = "roundAttempts" + 1, "leaseOwner" = null, "leaseUntil" = null`;

/** The rows are locked in the order of their ids, as everywhere, so that nobody waits for another in a circle. */
function firstAttemptsOnPostgres(
  dialect: SqlDialect,
  owner: string,
  outcomes: readonly DeliveryOutcome[],
): readonly Statement<{ id: string }>[] {
  const ids = outcomes.map(({ attempt }) => attempt.deliveryId);
  const text = sql<{ id: string }>`
    with outcome as materialized (select * from ${outcomeRows(dialect, outcomes)} as listed),
    held as materialized (
      select id from deliveries where id ${dialect.oneOf(ids)} and "leaseOwner" = ${owner} and attempts = 0
        and "orderingKey" is null
      order by id for update
    ), logged as (
      insert into attempts (${ATTEMPT_COLUMNS}) select ${ATTEMPT_COLUMNS} from outcome where "deliveryId" in (select id from held)
    )
    update deliveries set ${MOVED} from outcome
    where deliveries.id = outcome."deliveryId" and deliveries.id = any(array(select id from held)) returning id`;
  return [{ name: RECORD_FIRST_ATTEMPTS, sql: text }];
}

/**
 * A delivery that has just got its first attempt is one that the update found. The plus signs keep SQLite from the index of
 * leases: it would join all deliveries of the owner with all outcomes, instead of finding one delivery for each.
 */
function firstAttemptsOnSqlite(
  dialect: SqlDialect,
  owner: string,
  outcomes: readonly DeliveryOutcome[],
): readonly Statement<{ id: string }>[] {
  const outcome = outcomeRows(dialect, outcomes);
  return [
    {
      sql: sql`
        insert into attempts (${ATTEMPT_COLUMNS}) select ${ATTEMPT_COLUMNS} from ${outcome} as outcome where exists (
          select 1 from deliveries where id = outcome."deliveryId" and +"leaseOwner" = ${owner} and +attempts = 0
            and +"orderingKey" is null
        )`,
    },
    {
      sql: sql`
        update deliveries set ${MOVED} from ${outcome} as outcome
        where deliveries.id = outcome."deliveryId" and +"leaseOwner" = ${owner} and +attempts = 0
          and +"orderingKey" is null
        returning id`,
    },
  ];
}

/** One row for each outcome, as its delivery and its first attempt will be. */
function outcomeRows(dialect: SqlDialect, outcomes: readonly DeliveryOutcome[]): RawBuilder<unknown> {
  const rows = outcomes.map((outcome) => ({ ...toAttempt(outcome, 1), ...toMove(outcome) }));
  return dialect.rows(rows, { ...ATTEMPT_TYPES, state: 'text', dueAt: 'integer', endedAt: 'integer' });
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
    select id, attempts, "leaseOwner", "webhookId", "orderingKey" from deliveries
    where id ${dialect.oneOf(ids)} order by id ${dialect.lockRows}
  `.execute(db);
  const rows = new Map(locked.rows.map((row) => [row.id, row]));
  const isHeld = ({ attempt }: DeliveryOutcome) => rows.get(attempt.deliveryId)?.leaseOwner === owner;
  const isLost = ({ attempt }: DeliveryOutcome) => {
    const row = rows.get(attempt.deliveryId);
    return row !== undefined && row.leaseOwner !== owner;
  };
  // A first attempt whose lease is still held cannot have been logged before.
  const isRetry = (outcome: DeliveryOutcome) => readAttempts(outcome, rows) > 0;
  const logged = await findLogged(
    db,
    dialect,
    batch.filter((outcome) => isLost(outcome) || (isHeld(outcome) && isRetry(outcome))),
  );
  const isNew = ({ attempt }: DeliveryOutcome) => !logged.has(toKey(attempt));
  const held = batch.filter((outcome) => isHeld(outcome) && isNew(outcome));
  const lost = batch.filter((outcome) => isLost(outcome) && isNew(outcome));
  const claimedSince = batch.filter((outcome) => isHeld(outcome) && !isNew(outcome));
  await logAttempts(
    db,
    dialect,
    [...held, ...lost].map((outcome) => toAttempt(outcome, readAttempts(outcome, rows) + 1)),
  );
  if (held.length > 0) await changeStates(db, dialect, held);
  if (lost.length > 0) await countAttempts(db, dialect, lost);
  if (claimedSince.length > 0) await releaseReclaimed(db, dialect, claimedSince);
  const listOrders = (outcomes: readonly DeliveryOutcome[]) =>
    outcomes.flatMap(({ attempt }) => findOrder(rows.get(attempt.deliveryId)));
  return {
    advanced: listOrders(held.filter(isEnd)),
    stopped: listOrders(batch.filter(({ next }) => next.state !== 'delivered')),
  };
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

/** Finds the attempts that are stored already: a batch is repeated when the response of its commit was lost. */
async function findLogged(
  db: Database,
  dialect: SqlDialect,
  outcomes: readonly DeliveryOutcome[],
): Promise<ReadonlySet<string>> {
  if (outcomes.length === 0) return new Set();
  const ids = outcomes.map(({ attempt }) => attempt.deliveryId);
  const logged = await sql<Pick<Attempt, 'deliveryId' | 'startedAt' | 'durationMs'>>`
    select "deliveryId", "startedAt", "durationMs" from attempts where "deliveryId" ${dialect.oneOf(ids)}
  `.execute(db);
  return new Set(logged.rows.map(toKey));
}

function toKey(attempt: Pick<Attempt, 'deliveryId' | 'startedAt' | 'durationMs'>): string {
  return `${attempt.deliveryId} ${attempt.startedAt} ${attempt.durationMs}`;
}

function readAttempts({ attempt }: DeliveryOutcome, rows: ReadonlyMap<string, LockedRow>): number {
  return rows.get(attempt.deliveryId)?.attempts ?? 0;
}

function toAttempt({ attempt }: DeliveryOutcome, number: number): Attempt {
  const { error, responseBody } = attempt;
  return {
    ...attempt,
    number,
    error: error && sanitizeText(error),
    responseBody: responseBody && sanitizeText(responseBody),
  };
}

const ATTEMPT_TYPES = {
  deliveryId: 'text',
  number: 'integer',
  startedAt: 'integer',
  durationMs: 'integer',
  statusCode: 'integer',
  error: 'text',
  responseBody: 'text',
} as const;
const ATTEMPT_COLUMNS = columnList(Object.keys(ATTEMPT_TYPES));

async function logAttempts(db: Database, dialect: SqlDialect, attempts: readonly Attempt[]): Promise<void> {
  if (attempts.length === 0) return;
  const rows = dialect.rows(attempts, ATTEMPT_TYPES);
  await sql`insert into attempts (${ATTEMPT_COLUMNS}) select ${ATTEMPT_COLUMNS} from ${rows} as listed`.execute(
    db,
  );
}

async function changeStates(
  db: Database,
  dialect: SqlDialect,
  held: readonly DeliveryOutcome[],
): Promise<void> {
  const moves = held.map((outcome) => ({ id: outcome.attempt.deliveryId, ...toMove(outcome) }));
  const rows = dialect.rows(moves, { id: 'text', state: 'text', dueAt: 'integer', endedAt: 'integer' });
  await sql`update deliveries set ${MOVED} from ${rows} as outcome where deliveries.id = outcome.id`.execute(
    db,
  );
}

function toMove({ next }: DeliveryOutcome) {
  return {
    state: next.state,
    dueAt: next.state === 'pending' ? next.dueAt : null,
    endedAt: next.state === 'pending' ? null : next.endedAt,
  };
}

async function countAttempts(
  db: Database,
  dialect: SqlDialect,
  lost: readonly DeliveryOutcome[],
): Promise<void> {
  const ids = lost.map(({ attempt }) => attempt.deliveryId);
  await sql`update deliveries set attempts = attempts + 1 where id ${dialect.oneOf(ids)}`.execute(db);
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
