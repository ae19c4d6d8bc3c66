import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/server/app/config/config.ts';
import { startService } from '../../src/server/app/service.ts';
import { type Clock, systemClock, systemIds } from '../../src/server/platform/clock.ts';
import { collectingLog, type LogLine } from './app.ts';
import type { OpenApi } from './conformance.ts';
import { type Call, createCaller } from './http-call.ts';
import { freePort } from './parts/run-part.ts';

export type TestService = {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** Sends a signed request. Throws if the response does not conform to the service's own OpenAPI document. */
  readonly call: Call;
  readonly document: OpenApi;
  readonly logLines: readonly LogLine[];
  /** Stops only the service. `close` also frees the other resources of the fixture. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type TestServiceOptions = {
  /** The media server. Without one, nothing responds at its address. */
  readonly livekit?: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  /** Settings that override those of the fixture. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Measures how long a batch of outcomes waits for more; real time by default. */
  readonly timer?: Pick<Clock, 'sleep'>;
};

/** Starts the whole service on loopback, with its own data folder. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'rtc-service-'));
  const livekit = options.livekit ?? (await nothing());
  const clock = options.clock ?? systemClock;
  const apiKey = `key-${randomBytes(6).toString('hex')}`;
  const apiSecret = `secret-${randomBytes(16).toString('hex')}`;
  const config = loadConfig({
    API_KEY: apiKey,
    API_SECRET: apiSecret,
    PORT: '0',
    DATA_DIR: dataDir,
    LIVEKIT_URL: livekit.url,
    LIVEKIT_API_KEY: livekit.apiKey,
    LIVEKIT_API_SECRET: livekit.apiSecret,
    RATE_LIMIT_API: '0',
    RATE_LIMIT_PUBLIC: '0',
    ...options.environment,
  });
  const logLines: LogLine[] = [];
  const service = await startService(config, {
    ...{ log: collectingLog(logLines), clock, ids: systemIds },
    timer: options.timer,
  });
  const signing = () => ({
    apiKey: config.apiKey,
    apiSecret: config.apiSecrets[0],
    timestamp: Math.floor(clock.now() / 1000),
  });
  const caller = await createCaller(service.url, signing);
  return {
    url: service.url,
    apiKey: config.apiKey,
    apiSecret: config.apiSecrets[0],
    call: caller.call,
    document: caller.document,
    logLines,
    stop: service.close,
    close: async () => {
      caller.close();
      await service.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Returns the address of a missing media server. */
async function nothing() {
  return { url: `ws://127.0.0.1:${await freePort()}`, apiKey: 'absent', apiSecret: 'absent' };
}
