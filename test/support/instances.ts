import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMigratedDatabase } from './parts/migrated-database.ts';
import { startTestService, type TestService } from './service.ts';

/** Instances of the service and what they share. `closers` ends everything, the last one first. */
export type Instances = {
  readonly closers: (() => Promise<unknown>)[];
  readonly start: (environment: Readonly<Record<string, string>>) => Promise<TestService>;
  /** Makes a new folder. */
  readonly folder: () => Promise<string>;
  /** Makes a new PostgreSQL database. Resolves to its URL. */
  readonly database: () => Promise<string>;
  /** Makes a new database of the engine. Resolves to the settings of instances that share it, and their API key. */
  readonly environment: (engine: 'SQLite' | 'PostgreSQL') => Promise<Readonly<Record<string, string>>>;
  readonly close: () => Promise<void>;
};

const KEYS = { API_KEY: 'key-of-all-instances', API_SECRET: 'secret-of-all-instances-0000000000' };

export function createInstances(): Instances {
  const closers: (() => Promise<unknown>)[] = [];
  const folder = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), 'rtc-instances-'));
    closers.push(() => rm(path, { recursive: true, force: true }));
    return path;
  };
  const database = async (): Promise<string> => {
    const made = await createMigratedDatabase();
    closers.push(() => made.close());
    return made.url;
  };
  return {
    closers,
    folder,
    database,
    start: async (environment) => {
      const service = await startTestService({ environment });
      closers.push(() => service.close());
      return service;
    },
    environment: async (engine) =>
      engine === 'SQLite'
        ? { ...KEYS, DATA_DIR: await folder() }
        : { ...KEYS, DATABASE_URL: await database(), ENCRYPTION_KEY: randomBytes(32).toString('base64') },
    close: async () => {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
