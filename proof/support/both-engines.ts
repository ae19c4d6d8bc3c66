import { join } from 'node:path';
import type { Fleet } from '../../test/server/webhooks/support/instance.ts';
import type { Experiment, ExperimentContext, Findings } from '../experiment.ts';
import { startDatabase } from './signed-client.ts';

/** The settings of a service on PostgreSQL; none on SQLite. */
export type EngineSettings = { readonly DATABASE_URL?: string };

type RunOnEngine = (context: ExperimentContext, settings: EngineSettings) => Promise<Findings>;

/** Returns an experiment for each engine. The commits of PostgreSQL wait for the disk. */
export function onBothEngines(
  name: string,
  run: RunOnEngine,
): readonly [sqlite: Experiment, postgres: Experiment] {
  const onPostgres = async (context: ExperimentContext): Promise<Findings> =>
    run(context, { DATABASE_URL: await startDatabase(context, { isDurable: true }) });
  return [
    { name: `${name}-sqlite`, run: (context) => run(context, {}) },
    { name: `${name}-postgres`, run: onPostgres },
  ];
}

/** Returns where the database of the fleet is, for what is stored without the service. */
export function locateDatabase(
  { dataDir }: Pick<Fleet, 'dataDir'>,
  { DATABASE_URL: databaseUrl }: EngineSettings,
) {
  return databaseUrl === undefined ? { sqlitePath: join(dataDir, 'rtc.sqlite') } : { databaseUrl };
}
