import { sql } from 'kysely';
import type { Connection } from '../schema/tables.ts';

export function createFigureStore({ db }: Pick<Connection, 'db'>): FigureStore {
  return {
    read: async (now) => {
      const deliveries = await db
        .selectFrom('deliveries')
        .where('state', '=', sql<'pending'>`'pending'`)
        .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('createdAt').as('oldest')])
        .executeTakeFirstOrThrow();
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
      return {
        deliveriesPending: deliveries.count,
        oldestPendingDeliveryAt: deliveries.oldest,
        rooms: rooms.count,
        participants: participants.count,
        recordings: await db
          .selectFrom('recordings')
          .groupBy('status')
          .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
          .execute(),
        transcriptions: await db
          .selectFrom('transcriptions')
          .groupBy(['kind', 'status'])
          .select(({ fn }) => ['kind', 'status', fn.countAll<number>().as('count')])
          .execute(),
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
  /** Reads the counts. `now` (Unix milliseconds) decides which workers are alive. */
  read(now: number): Promise<Figures>;
}
