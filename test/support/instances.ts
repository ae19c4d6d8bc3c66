import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from './parts/postgres.ts';
import { sharedPostgres } from './parts/shared.ts';
import { startTestService, type TestService } from './service.ts';

/** Instances of the service and what they share. `closers` ends everything, the last one first. */
export type Instances = {
  readonly closers: (() => Promise<unknown>)[];
  readonly start: (environment: Readonly<Record<string, string>>) => Promise<TestService>;
  /** Makes a new folder. */
  readonly folder: () => Promise<string>;
  /** Makes a new PostgreSQL database. Resolves to its URL. */
  readonly database: () => Promise<string>;
  readonly close: () => Promise<void>;
};

export function createInstances(): Instances {
  const closers: (() => Promise<unknown>)[] = [];
  return {
    closers,
    start: async (environment) => {
      const service = await startTestService({ environment });
      closers.push(() => service.close());
      return service;
    },
    folder: async () => {
      const path = await mkdtemp(join(tmpdir(), 'rtc-instances-'));
      closers.push(() => rm(path, { recursive: true, force: true }));
      return path;
    },
    database: async () => {
      const made = await createDatabase(await sharedPostgres());
      closers.push(() => made.close());
      return made.url;
    },
    close: async () => {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
