import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCaller } from '../../../support/http-call.ts';
import {
  freePort,
  type RunningPart,
  runPart,
  untilReady,
  withFreshPorts,
} from '../../../support/parts/run-part.ts';
import { processesOf } from '../../../support/process-group.ts';

/** Longer than SHUTDOWN_DELAY of any test and the 10 s in which an instance closes. */
const STOP_DEADLINE_MS = 30_000;

const program = fileURLToPath(new URL('serve-process.ts', import.meta.url));

/** Instances of the service that share one store, each a process of its own. */
export type Fleet = {
  /** Where instances without a database of their own keep what they store. */
  readonly dataDir: string;
  readonly keys: { readonly apiKey: string; readonly apiSecret: string };
  /** `environment` over that of the fleet. */
  readonly start: (environment?: Readonly<Record<string, string>>) => Promise<FleetInstance>;
  /** A signed call to one of them; throws when the answer is not as documented. */
  readonly call: (instance: FleetInstance, method: string, path: string, body?: object) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

export type FleetInstance = {
  readonly url: string;
  /** The process itself. */
  readonly pid: number;
  readonly output: () => string;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
  /** SIGTERM; resolves when it has ended what it was doing. */
  readonly stop: () => Promise<void>;
  /** SIGSTOP, until it is thawed by SIGCONT. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

/** `environment` over that of a service on SQLite in a folder of its own, whose media server is not there. */
export async function createFleet(
  environment: Readonly<Record<string, string>> = {},
  onOutput: (text: string) => void = () => {},
): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-fleet-'));
  const keys = { apiKey: 'fleet', apiSecret: randomBytes(24).toString('hex') };
  const settings = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: join(tmpdir(), 'rtc-test-compile-cache'),
    API_KEY: keys.apiKey,
    API_SECRET: keys.apiSecret,
    DATA_DIR: join(folder, 'data'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    LIVEKIT_URL: 'ws://127.0.0.1:9',
    LIVEKIT_API_KEY: 'absent',
    LIVEKIT_API_SECRET: 'absent',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_API: '0',
    RATE_LIMIT_PUBLIC: '0',
    LOG_LEVEL: 'warn',
    METRICS: 'off',
    ...environment,
  };
  const running = new Set<RunningPart>();
  const launch = async (own: Readonly<Record<string, string>>): Promise<FleetInstance> => {
    const port = own.PORT ?? (await freePort());
    const part = runPart({
      name: 'instance',
      program: process.execPath,
      args: [program],
      cwd: folder,
      env: { ...settings, ...own, PORT: `${port}` },
      stopDeadlineMs: STOP_DEADLINE_MS,
      onOutput,
    });
    running.add(part);
    const url = `http://127.0.0.1:${port}`;
    await untilReady(part, 'instance', { isReady: async () => (await fetch(`${url}/v1/health`)).ok });
    const end = (by: () => Promise<void>) => async () => {
      running.delete(part);
      await by();
    };
    const ends = { kill: end(part.kill), stop: end(part.close) };
    const pid = (await processesOf(part.groupId)).find(({ name }) => name !== 'sh')?.pid ?? 0;
    return { url, pid, output: part.output, ...ends, freeze: part.freeze, thaw: part.thaw };
  };
  return {
    keys,
    dataDir: settings.DATA_DIR,
    start: (own = {}) => withFreshPorts(() => launch(own)),
    call: async ({ url }, method, path, body) => {
      const signing = () => ({ ...keys, timestamp: Math.floor(Date.now() / 1000) });
      const caller = await createCaller(url, signing);
      try {
        return (await caller.call(method, path, body === undefined ? {} : { body })).json;
      } finally {
        caller.close();
      }
    },
    close: async () => {
      await Promise.all([...running].map((part) => part.kill()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
