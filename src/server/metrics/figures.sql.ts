import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../schema/tables.ts';

/** Maximum that is counted of each status, because a scrape must not walk over everything that is stored. */
export const MOST_COUNTED = 10_000;
const MOST_DELIVERIES = 100_000;

export function createFigureStore({ db }: Pick<Connection, 'db'>): FigureStore {
  return {
    read: async (now, most = MOST_COUNTED) => {
      const { rows } = await sql<{ count: number; oldest: number | null }>`
        select
          (select count(*) from (select 1 from deliveries where state = 'pending' limit ${MOST_DELIVERIES}) as counted)
            + (select count(*) from "parcelledDeliveries") as count,
          (
            select min(first) from (
              select (select min("createdAt") from deliveries where state = 'pending' and "webhookId" = webhooks.id) as first
              from webhooks union all select min("createdAt") from "parcelledDeliveries"
            ) as firsts
          ) as oldest`.execute(db);
      return {
        deliveriesPending: rows[0]?.count ?? 0,
        oldestPendingDeliveryAt: rows[0]?.oldest ?? null,
        ...(await countPresent(db)),
        recordings: await countRecordings(db, most),
        transcriptions: await countTranscriptions(db, most),
        workers: await db
          .selectFrom('speechWorkers')
          .where('aliveUntil', '>', now)
          .groupBy('kind')
          .select(({ fn }) => ['kind', fn.countAll<number>().as('count')])
          .execute(),
      };
    },
  };
}

async function countPresent(db: Connection['db']): Promise<Pick<Figures, 'rooms' | 'participants'>> {
  const rooms = await db
    .selectFrom('roomSessions')
    .where('endedAt', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const participants = await db
    .selectFrom('roomSessions')
    .innerJoin('participantSessions', 'participantSessions.roomSid', 'roomSessions.sid')
    .where('roomSessions.endedAt', 'is', null)
    .where('participantSessions.leftAt', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { rooms: rooms.count, participants: participants.count };
}

async function countRecordings(db: Connection['db'], most: number): Promise<Figures['recordings']> {
  const { rows } = await sql<CountByStatus>`
    select status, (${countUpTo(most, sql`recordings where status = one.status and kind = 'recording'`)}) as count
    from (select 'starting' as status ${unionAll(['recording', 'stopped', 'aborted', 'failed'])}) as one`.execute(
    db,
  );
  return rows.filter(({ count }) => count > 0);
}

async function countTranscriptions(db: Connection['db'], most: number): Promise<Figures['transcriptions']> {
  const { rows } = await sql<CountByStatus & { kind: string }>`
    select kind, status,
      (${countUpTo(most, sql`transcriptions where kind = one.kind and status = one.status`)}) as count
    from (
      select kinds.kind, statuses.status from (select 'live' as kind union all select 'post') as kinds,
        (select 'active' as status ${unionAll(['stopped', 'queued', 'processing', 'completed', 'failed'])}) as statuses
    ) as one`.execute(db);
  return rows.filter(({ count }) => count > 0);
}

function countUpTo(most: number, rows: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`select count(*) from (select 1 from ${rows} limit ${most}) as counted`;
}

function unionAll(statuses: readonly string[]): RawBuilder<unknown> {
  return sql.join(
    statuses.map((status) => sql`union all select ${sql.lit(status)}`),
    sql` `,
  );
}

/** Counts that are read from the database, the same on every instance. */
export type Figures = {
  readonly deliveriesPending: number;
  /** Unix milliseconds; null when no delivery waits. */
  readonly oldestPendingDeliveryAt: number | null;
  readonly rooms: number;
  readonly participants: number;
  readonly recordings: readonly CountByStatus[];
  readonly transcriptions: readonly (CountByStatus & { readonly kind: string })[];
  /** Number of living speech workers by kind. */
  readonly workers: readonly { readonly kind: string; readonly count: number }[];
};

type CountByStatus = { readonly status: string; readonly count: number };

export interface FigureStore {
  /**
   * Reads the counts. `now` (Unix milliseconds) decides which workers are alive. At most `most` recordings and transcriptions
   * of each status are counted.
   */
  read(now: number, most?: number): Promise<Figures>;
}
