import { setTimeout as delay } from 'node:timers/promises';
import { type RunningPart, runPart } from '../../test/support/parts/run-part.ts';
import { type Passage, startDatabaseProxy } from './database-proxy.ts';
import { findWithin } from './poll.ts';
import type { SignedClient } from './signed-client.ts';

/** Settings that a speech worker shares with the service. */
export type WorkerSettings = {
  readonly settings: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
};

type WorkerKind = 'stt-live' | 'stt-post';

const PACE = { everyMs: 100, withinMs: 240_000 };
const program = new URL('speech-worker-process.ts', import.meta.url).pathname;

/** Starts a worker in a process of its own; resolves when it works. Without a URL its database is SQLite in DATA_DIR. */
export async function startWorkerProcess(
  kind: WorkerKind,
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
  const isWorking = await findWithin(PACE, async () => part.output().includes('"working"'));
  if (!isWorking) throw new Error(`the worker did not start:\n${part.output()}`);
  return part;
}

/** A statement, and whether the database still receives it. */
export type Statement = { readonly text: string; readonly passage: Passage };

export type Victim = Awaited<ReturnType<typeof startVictim>>;

/** Starts a worker that is killed, if need be at a statement that it sends to its database. */
export async function startVictim(kind: WorkerKind, shared: WorkerSettings) {
  const { databaseUrl } = shared;
  const proxy = await startDatabaseProxy(() => Number(new URL(databaseUrl).port));
  const worker = await startWorkerProcess(kind, { ...shared, databaseUrl: proxy.through(databaseUrl) });
  const died = Promise.withResolvers<number>();
  const kill = async (): Promise<void> => {
    const now = performance.now();
    await worker.kill();
    died.resolve(now);
  };
  return {
    kill,
    /** Kills it when it next sends a statement with the text. */
    killAt: ({ text, passage }: Statement) =>
      proxy.onNext(text, () => {
        void kill();
        return passage;
      }),
    /** Resolves to the time of its death by performance.now(); to undefined if it still lives then. */
    findDeath: (withinMs: number) => Promise.race([died.promise, delay(withinMs, undefined, { ref: false })]),
    close: async () => {
      await worker.kill();
      await proxy.close();
    },
  };
}

/** Counts the events of a transcription. */
export async function countTranscriptionEvents({ call }: SignedClient, id: string): Promise<number> {
  const { json } = await call('GET', '/v1/events?limit=500');
  const events: readonly { readonly transcription?: { readonly transcriptionId?: string } }[] = Array.isArray(
    json.events,
  )
    ? json.events
    : [];
  return events.filter(({ transcription }) => transcription?.transcriptionId === id).length;
}
