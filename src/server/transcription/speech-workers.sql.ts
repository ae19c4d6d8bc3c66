import type { Connection } from '../schema/tables.ts';
import type { FailedModel, TranscriptionStore, WorkerKind } from './store.ts';

/** The rows of workers that died are deleted after this time. */
const DEAD_WORKER_RETENTION_MS = 3_600_000;

type WorkerMethods = Pick<TranscriptionStore, 'beat' | 'retire' | 'listAlive'>;

export function speechWorkerMethods({ db }: Connection): WorkerMethods {
  return {
    beat: async ({ kind, workerId, languages, failedModels, aliveUntil }) => {
      const lists = { languages: JSON.stringify(languages), failedModels: JSON.stringify(failedModels) };
      const row = { kind, aliveUntil, ...lists };
      await db
        .insertInto('speechWorkers')
        .values({ id: workerId, ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
      await db
        .deleteFrom('speechWorkers')
        .where('aliveUntil', '<', aliveUntil - DEAD_WORKER_RETENTION_MS)
        .execute();
    },
    retire: async (workerId) => {
      await db.deleteFrom('speechWorkers').where('id', '=', workerId).execute();
    },
    listAlive: async (now) => {
      const rows = await db
        .selectFrom('speechWorkers')
        .select(['kind', 'languages', 'failedModels'])
        .where('aliveUntil', '>', now)
        .execute();
      return rows.map(({ kind, languages, failedModels }) => ({
        kind: kind as WorkerKind,
        languages: JSON.parse(languages) as string[],
        failedModels: JSON.parse(failedModels ?? '[]') as FailedModel[],
      }));
    },
  };
}
