import { createServer } from 'node:http';
import { join } from 'node:path';
import { createLivekitMediaServer } from './adapters/livekit/livekit-media-server.ts';
import { createTokenSigner } from './adapters/livekit/token-signer.ts';
import { openStore } from './adapters/storage/open-store.ts';
import { createMetrics, type Metrics } from './adapters/system/metrics.ts';
import { buildApp } from './app.ts';
import { type Background, createBackground } from './background.ts';
import { type Config, serviceUrl } from './config/config.ts';
import { findPackageRoot, packageVersion } from './package-root.ts';
import type { Clock, IdGenerator } from './ports/clock.ts';
import type { Log } from './ports/log.ts';
import type { MediaServer } from './ports/media-server.ts';
import type { Store } from './ports/store.ts';
import { type RouteDeps, serviceRoutes } from './routes.ts';

export type ServiceParts = { readonly log: Log; readonly clock: Clock; readonly ids: IdGenerator };

export type RunningService = {
  /** Where it listens, such as http://127.0.0.1:3000. */
  readonly url: string;
  /** Answers what is under way, then closes everything in reverse order; 10 s at most. */
  readonly close: () => Promise<void>;
};

const CLOSE_PATIENCE_MS = 9_000;

/** Configuration to adapters to app, listening; whatever fails on the way closes what was opened before it. */
export async function startService(config: Config, parts: ServiceParts): Promise<RunningService> {
  const closers: (() => Promise<void>)[] = [];
  const close = closeOnce(closers, parts.log);
  try {
    return { url: await start(config, parts, closers), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(config: Config, parts: ServiceParts, closers: (() => Promise<void>)[]): Promise<string> {
  const { log, clock } = parts;
  const metrics = config.metrics === 'off' ? undefined : createMetrics();
  const store = await openStore({ database: databaseOf(config), clock, log });
  closers.push(() => store.close());
  const mediaServer = createLivekitMediaServer({
    ...config.livekit,
    log,
    ...(metrics === undefined ? {} : { onCall: metrics.observeMediaCall }),
  });
  closers.push(() => mediaServer.close());
  const background = createBackground((error) => log.error({ err: error }, 'background work failed'));
  closers.push(() => background.settled());
  if (metrics !== undefined && typeof config.metrics === 'object') {
    closers.push(await serveMetrics(metrics, config.metrics));
  }
  const app = await buildApp({
    routes: serviceRoutes(routeDeps(config, parts, { mediaServer, store, background, metrics })),
    authentication: {
      clock,
      apiKey: config.apiKey,
      apiSecrets: config.apiSecrets,
      acceptsSingleHeader: config.acceptsSingleHeader,
    },
    log,
    rateLimits: { api: config.values.RATE_LIMIT_API, public: config.values.RATE_LIMIT_PUBLIC },
    bodyLimitBytes: config.values.BODY_LIMIT,
    trustProxy: config.trustProxy,
    onAnswer: metrics?.observeAnswer,
  });
  closers.push(() => app.close());
  return await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    throw listenError(error, config);
  });
}

function listenError(error: unknown, { host, port }: Config): unknown {
  const reason = LISTEN_FAULTS[(error as NodeJS.ErrnoException).code ?? ''];
  return reason === undefined
    ? error
    : new Error(`Cannot listen on ${host}:${port}: ${reason}`, { cause: error });
}

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process does. Stop it, or choose another PORT (0 picks a free one).',
  EADDRNOTAVAIL: 'this machine has no such address. Correct HOST.',
  ENOTFOUND: 'the name is not known. Correct HOST.',
  EACCES: 'that is not allowed. Choose a PORT above 1023.',
};

type Adapters = {
  readonly mediaServer: MediaServer;
  readonly store: Store;
  readonly background: Background;
  readonly metrics: Metrics | undefined;
};

function routeDeps(config: Config, parts: ServiceParts, adapters: Adapters): RouteDeps {
  const root = findPackageRoot(import.meta.dirname);
  const version = packageVersion(root);
  return {
    ...parts,
    version,
    mediaServer: adapters.mediaServer,
    store: adapters.store,
    tokenSigner: createTokenSigner(config.livekit.apiKey, config.livekit.apiSecret),
    tokenTtlSeconds: config.tokenTtlSeconds,
    mediaUrl: config.livekit.publicUrl,
    instanceId: parts.ids.next(),
    recordings: {
      bucket: config.bucket,
      directory: config.recordingDir,
      pathTemplate: config.recordingPath,
      webhookUrl: `${serviceUrl(config, config.port)}/livekit/webhook`,
    },
    background: adapters.background.add,
    isFiscalApiOn: config.values.FISCAL_API,
    metrics: config.metrics === 'signed' ? adapters.metrics : undefined,
    reference: { version, scriptPath: join(root, 'dist', 'reference', 'scalar.js') },
  };
}

function databaseOf(config: Config): { readonly databaseUrl: string } | { readonly sqlitePath: string } {
  if (config.databaseUrl !== undefined) return { databaseUrl: config.databaseUrl };
  return { sqlitePath: join(config.dataDir, 'rtc.sqlite') };
}

async function serveMetrics(
  metrics: Metrics,
  address: { readonly host: string; readonly port: number },
): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.render().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

/** Last opened, first closed; one that fails or hangs does not keep the others open. */
function closeOnce(closers: readonly (() => Promise<void>)[], log: Log): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    for (const close of closers.toReversed()) {
      await close().catch((error: unknown) => log.error({ err: error }, 'closing failed'));
    }
  };
  return () => {
    closing ??= Promise.race([closeAll(), giveUp(log)]);
    return closing;
  };
}

function giveUp(log: Log): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      log.warn({ afterMs: CLOSE_PATIENCE_MS }, 'closing took too long; what was under way is cut off');
      resolve();
    }, CLOSE_PATIENCE_MS);
    timer.unref();
  });
}
