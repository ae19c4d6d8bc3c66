import { type Kysely, sql } from 'kysely';
import type { Connection, SqlDialect } from '../platform/storage/engine.ts';
import { sanitizeText } from '../platform/storage/sanitize-text.ts';
import type { Tables } from '../platform/storage/schema/tables.ts';
import type { Attempt, Delivery, DeliveryOutcome } from './store.ts';

type Database = Kysely<Tables>;
type LockedRow = Pick<Delivery, 'id' | 'attempts' | 'leaseOwner'>;

/** Stores outcomes with four statements, however many there are. Retries and lost leases take a fifth statement. */
export function recordOutcomes(
  { atomically, dialect, changes }: Connection,
  owner: string,
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return Promise.resolve();
  return atomically(async (db) => {
    for (const batch of withoutRepetitions(outcomes)) await recordBatch(db, dialect, { owner, batch });
    if (outcomes.some(({ next }) => next.state !== 'pending')) changes.note(db, 'deliveries');
  });
}

type OutcomeBatch = { readonly owner: string; readonly batch: readonly DeliveryOutcome[] };

async function recordBatch(db: Database, dialect: SqlDialect, { owner, batch }: OutcomeBatch): Promise<void> {
  const ids = batch.map(({ attempt }) => attempt.deliveryId);
  const locked = await sql<LockedRow>`
    select id, attempts, "leaseOwner" from deliveries where id ${dialect.oneOf(ids)} order by id ${dialect.lockRows}
  `.execute(db);
  const rows = new Map(locked.rows.map((row) => [row.id, row]));
  const isHeld = ({ attempt }: DeliveryOutcome) => rows.get(attempt.deliveryId)?.leaseOwner === owner;
  const isLost = ({ attempt }: DeliveryOutcome) => {
    const row = rows.get(attempt.deliveryId);
    return row !== undefined && row.leaseOwner !== owner;
  };
  // A first attempt whose lease is still held cannot have been logged before.
  const isRetry = ({ attempt }: DeliveryOutcome) => (rows.get(attempt.deliveryId)?.attempts ?? 0) > 0;
  const logged = await findLogged(
    db,
    dialect,
    batch.filter((outcome) => isLost(outcome) || (isHeld(outcome) && isRetry(outcome))),
  );
  const isNew = ({ attempt }: DeliveryOutcome) => !logged.has(keyOf(attempt));
  const held = batch.filter((outcome) => isHeld(outcome) && isNew(outcome));
  const lost = batch.filter((outcome) => isLost(outcome) && isNew(outcome));
  const claimedSince = batch.filter((outcome) => isHeld(outcome) && !isNew(outcome));
  await logAttempts(
    db,
    dialect,
    [...held, ...lost].map((outcome) => toAttempt(outcome, rows)),
  );
  if (held.length > 0) await changeStates(db, dialect, held);
  if (lost.length > 0) await countAttempts(db, dialect, lost);
  if (claimedSince.length > 0) await releaseReclaimed(db, dialect, claimedSince);
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
  return new Set(logged.rows.map(keyOf));
}

function keyOf(attempt: Pick<Attempt, 'deliveryId' | 'startedAt' | 'durationMs'>): string {
  return `${attempt.deliveryId} ${attempt.startedAt} ${attempt.durationMs}`;
}

function toAttempt({ attempt }: DeliveryOutcome, rows: ReadonlyMap<string, LockedRow>): Attempt {
  const number = (rows.get(attempt.deliveryId)?.attempts ?? 0) + 1;
  const { error, responseBody } = attempt;
  return {
    ...attempt,
    number,
    error: error && sanitizeText(error),
    responseBody: responseBody && sanitizeText(responseBody),
  };
}

async function logAttempts(db: Database, dialect: SqlDialect, attempts: readonly Attempt[]): Promise<void> {
  if (attempts.length === 0) return;
  const rows = dialect.rows(attempts, {
    deliveryId: 'text',
    number: 'integer',
    startedAt: 'integer',
    durationMs: 'integer',
    statusCode: 'integer',
    error: 'text',
    responseBody: 'text',
  });
  await sql`
    insert into attempts ("deliveryId", number, "startedAt", "durationMs", "statusCode", error, "responseBody")
    select "deliveryId", number, "startedAt", "durationMs", "statusCode", error, "responseBody" from ${rows} as listed
  `.execute(db);
}

async function changeStates(
  db: Database,
  dialect: SqlDialect,
  held: readonly DeliveryOutcome[],
): Promise<void> {
  const moves = held.map(({ attempt, next }) => ({
    id: attempt.deliveryId,
    state: next.state,
    dueAt: next.state === 'pending' ? next.dueAt : null,
    endedAt: next.state === 'pending' ? null : next.endedAt,
  }));
  const rows = dialect.rows(moves, { id: 'text', state: 'text', dueAt: 'integer', endedAt: 'integer' });
  await sql`
    update deliveries set
      state = moved.state, "dueAt" = coalesce(moved."dueAt", deliveries."dueAt"), "endedAt" = moved."endedAt",
      attempts = attempts + 1, "roundAttempts" = "roundAttempts" + 1, "leaseOwner" = null, "leaseUntil" = null
    from ${rows} as moved where deliveries.id = moved.id`.execute(db);
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
