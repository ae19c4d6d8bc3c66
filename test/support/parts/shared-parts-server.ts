import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openStore } from '../../../src/server/app/create-store.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { silentLog } from '../silent-log.ts';
import { startLivekit } from './livekit.ts';
import { createDatabase, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { SharedParts } from './shared.ts';

type Starter<Part> = () => Promise<Part & { close(): Promise<void> }>;

type Starters = { readonly [Name in keyof SharedParts]: Starter<SharedParts[Name]> };

export interface SharedPartsServer {
  /** The path is a secret, so that only tests of this run start parts. */
  readonly url: string;
  /** Ends every started part. */
  close(): Promise<void>;
}

/**
 * Listens on loopback. Starts a shared part when a test first posts to `<url><name>`, and responds with its data. The parts
 * keep their files in `folder`.
 */
export async function startSharedPartsServer(folder: string): Promise<SharedPartsServer> {
  const starters: Starters = {
    livekit: startLivekitWithRedis,
    postgres: () => startMigratedPostgres(folder),
  };
  const started = new Map<string, Promise<{ close(): Promise<void> }>>();
  const prefix = `/${randomBytes(16).toString('hex')}/`;
  const part = (name: string) => {
    const known = started.get(name);
    if (known) return known;
    const starter = Object.entries(starters).find(([starterName]) => starterName === name)?.[1];
    if (!starter) throw new Error(`there is no shared part "${name}"`);
    const starting = starter();
    started.set(name, starting);
    return starting;
  };
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      if (!request.url?.startsWith(prefix)) throw new Error('there is nothing here');
      response.end(JSON.stringify(await part(request.url.slice(prefix.length))));
    } catch (cause) {
      response.writeHead(500).end(String(cause));
    }
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    async close() {
      server.close();
      server.closeAllConnections();
      const parts = await Promise.allSettled(started.values());
      await Promise.all(
        parts.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)),
      );
    },
  };
}

async function startMigratedPostgres(parent: string) {
  const cluster = await startPostgres({ parent });
  try {
    const migrated = await createDatabase(cluster);
    await (
      await openStore({ database: { databaseUrl: migrated.url }, clock: systemClock, log: silentLog })
    ).close();
    return { ...cluster, migrated: { url: migrated.url } };
  } catch (cause) {
    await cluster.close();
    throw cause;
  }
}

async function startLivekitWithRedis() {
  const redis = await startRedis();
  try {
    const livekit = await startLivekit({ redis });
    const close = async () => {
      await livekit.close();
      await redis.close();
    };
    return { ...livekit, redis: { url: redis.url, address: redis.address }, close };
  } catch (cause) {
    await redis.close();
    throw cause;
  }
}
