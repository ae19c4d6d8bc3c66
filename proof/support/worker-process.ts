import { setTimeout as delay } from 'node:timers/promises';
import { type RunningPart, runPart } from '../../test/support/parts/run-part.ts';

/** Settings that a speech worker shares with the service. */
export type WorkerSettings = {
  readonly settings: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
};

const DEADLINE_MS = 240_000;
const LOOK_MS = 100;
const program = new URL('speech-worker-process.ts', import.meta.url).pathname;

/** Starts a worker in a process of its own; resolves when it works. Without a URL its database is SQLite in DATA_DIR. */
export async function startWorkerProcess(
  kind: 'stt-live' | 'stt-post',
  { settings, databaseUrl }: Pick<WorkerSettings, 'settings'> & Partial<WorkerSettings>,
): Promise<RunningPart> {
  const env = {
    ...process.env,
    ...settings,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    API_KEY: 'worker',
    API_SECRET: settings.ENCRYPTION_KEY,
  };
  const part = runPart({ name: kind, program: process.execPath, args: [program, kind], env });
  const deadline = performance.now() + DEADLINE_MS;
  while (!part.output().includes('"working"')) {
    if (performance.now() > deadline) throw new Error(`the worker did not start:\n${part.output()}`);
    await delay(LOOK_MS);
  }
  return part;
}
