import { inject } from 'vitest';
import type { Livekit } from './livekit.ts';
import type { Database, Postgres } from './postgres.ts';
import type { Redis } from './redis.ts';

/** The data of the shared parts. Tests cannot close them. */
export interface SharedParts {
  readonly livekit: Omit<Livekit, 'close'> & { readonly redis: Omit<Redis, 'close' | 'kill'> };
  readonly postgres: Omit<Postgres, 'close'> & { readonly migrated: Pick<Database, 'url'> };
}

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the server that starts shared parts on request. */
    sharedPartsUrl: string;
  }
}

/**
 * Returns the livekit-server of this run, with Redis. The first call of any suite starts it. Other suites have rooms on it
 * too: use unique names for rooms, and start a separate server to count rooms or to receive webhooks.
 */
export function sharedLivekit(): Promise<SharedParts['livekit']> {
  return askFor('livekit');
}

/** Returns the PostgreSQL cluster of this run. The first call of any suite starts it. */
export function sharedPostgres(): Promise<SharedParts['postgres']> {
  return askFor('postgres');
}

async function askFor<Name extends keyof SharedParts>(name: Name): Promise<SharedParts[Name]> {
  const response = await fetch(new URL(name, inject('sharedPartsUrl')), { method: 'POST' });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as SharedParts[Name];
}
