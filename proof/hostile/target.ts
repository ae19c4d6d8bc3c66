import { randomBytes } from 'node:crypto';
import { createFleet, type Fleet, type FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { type Livekit, startLivekit } from '../../test/support/parts/livekit.ts';
import { createDatabase, startPostgres } from '../../test/support/parts/postgres.ts';
import type { ProofContext } from '../part.ts';
import { type ProcessWatch, watchProcesses } from './process-watch.ts';
import type { Planted } from './secret-scan.ts';

export type DatabaseName = 'SQLite' | 'PostgreSQL';

/** A service with a real media server, and every secret that the service was given. */
export type Target = {
  readonly fleet: Fleet;
  readonly instance: FleetInstance;
  readonly livekit: Livekit;
  readonly planted: Planted[];
  /** Returns everything that the service has logged, at level `debug`. */
  readonly log: () => string;
  /** Every process of the run. */
  readonly processes: ProcessWatch;
  readonly startedMs: number;
  /** PostgreSQL's URL; undefined on SQLite. */
  readonly databaseUrl: string | undefined;
};

/** `environment` overrides the settings of the service. */
export async function startTarget(
  { cleanUp }: ProofContext,
  database: DatabaseName,
  environment: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const startedMs = Date.now();
  const processes = watchProcesses();
  cleanUp(processes.close);
  const livekit = await startLivekit();
  cleanUp(livekit.close);
  const databaseUrl = database === 'PostgreSQL' ? await postgresUrl(cleanUp) : undefined;
  const encryptionKey = randomBytes(32);
  const chunks: string[] = [];
  const s3Secret = randomBytes(20).toString('hex');
  const fleet = await createFleet(
    {
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      ENCRYPTION_KEY: encryptionKey.toString('base64'),
      LIVEKIT_URL: livekit.url,
      LIVEKIT_API_KEY: livekit.apiKey,
      LIVEKIT_API_SECRET: livekit.apiSecret,
      S3_BUCKET: 'nowhere',
      S3_ENDPOINT: 'http://127.0.0.1:9',
      S3_ACCESS_KEY: 'access',
      S3_SECRET_KEY: s3Secret,
      RECORDER_PATIENCE: '1',
      LOG_LEVEL: 'debug',
      METRICS: 'signed',
      ...environment,
    },
    (text) => chunks.push(text),
  );
  cleanUp(fleet.close);
  const instance = await fleet.start();
  const password =
    databaseUrl === undefined ? [] : [{ name: 'DATABASE_URL', secret: new URL(databaseUrl).password }];
  return {
    ...{ fleet, instance, livekit, databaseUrl, processes, startedMs },
    planted: [
      { name: 'API_SECRET', secret: fleet.keys.apiSecret },
      { name: 'LIVEKIT_API_SECRET', secret: livekit.apiSecret },
      { name: 'ENCRYPTION_KEY', secret: encryptionKey.toString('base64') },
      { name: 'S3_SECRET_KEY', secret: s3Secret },
      ...password,
    ],
    log: () => chunks.join(''),
  };
}

async function postgresUrl(cleanUp: ProofContext['cleanUp']): Promise<string> {
  const cluster = await startPostgres();
  cleanUp(cluster.close);
  return (await createDatabase(cluster)).url;
}
