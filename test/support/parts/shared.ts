import { inject } from 'vitest';
import type { Livekit } from './livekit.ts';
import type { Postgres } from './postgres.ts';
import type { Redis } from './redis.ts';

/** What the shared parts tell a test: their data without `close`, which is the run's business. */
export interface SharedParts {
  readonly livekit: Omit<Livekit, 'close'> & { readonly redis: Omit<Redis, 'close' | 'kill'> };
  readonly postgres: Omit<Postgres, 'close'>;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the set-up starts shared parts on request. */
    sharedPartsUrl: string;
  }
}

/**
 * The run's own livekit-server with Redis, started at the first call of any suite. Other suites have rooms on
 * it too: name rooms uniquely, and start a server of your own to count rooms or to receive webhooks.
 */
export function sharedLivekit(): Promise<SharedParts['livekit']> {
  return askFor('livekit');
}

/** The run's own PostgreSQL cluster, started at the first call of any suite; take a database by `createDatabase`. */
export function sharedPostgres(): Promise<SharedParts['postgres']> {
  return askFor('postgres');
}

async function askFor<Name extends keyof SharedParts>(name: Name): Promise<SharedParts[Name]> {
  const answer = await fetch(new URL(name, inject('sharedPartsUrl')), { method: 'POST' });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as SharedParts[Name];
}
