import type { Connection } from '../platform/storage/engine.ts';
import type { TranscriptionStore } from './store.ts';

/** The rows of workers that died are deleted after this time. */
const FORGOTTEN_AFTER_MS = 3_600_000;

type WorkerMethods = Pick<TranscriptionStore, 'beat' | 'retire' | 'isAlive' | 'languages'>;

export function speechWorkerMethods({ db }: Connection): WorkerMethods {
  return {
    beat: async ({ kind, workerId, languages, aliveUntil }) => {
      const said = { kind, aliveUntil, languages: JSON.stringify(languages) };
      await db
        .insertInto('speechWorkers')
        .values({ id: workerId, ...said })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(said))
        .execute();
      await db
        .deleteFrom('speechWorkers')
        .where('aliveUntil', '<', aliveUntil - FORGOTTEN_AFTER_MS)
        .execute();
    },
    retire: async (workerId) => {
      await db.deleteFrom('speechWorkers').where('id', '=', workerId).execute();
    },
    isAlive: async (kind, now) => (await alive(kind, now).limit(1).execute()).length > 0,
    languages: async (kind, now) => {
      const rows = await alive(kind, now).execute();
      return [...new Set(rows.flatMap((row) => JSON.parse(row.languages) as string[]))].sort();
    },
  };

  function alive(kind: string, now: number) {
    return db
      .selectFrom('speechWorkers')
      .select('languages')
      .where('kind', '=', kind)
      .where('aliveUntil', '>', now);
  }
}
