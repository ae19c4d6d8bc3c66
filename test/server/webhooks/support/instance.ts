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
import { listProcesses } from '../../../support/process-group.ts';

/** Longer than SHUTDOWN_DELAY of any test and the 10 s in which an instance closes. */
const STOP_DEADLINE_MS = 30_000;

const ownProgram = fileURLToPath(new URL('serve-process.ts', import.meta.url));

/** Instances of the service that share one store. Each is a process. */
export type Fleet = {
  /** Folder with the data of instances that have no database of their own. */
  readonly dataDir: string;
  readonly keys: { readonly apiKey: string; readonly apiSecret: string };
  /** Starts an instance. `environment` overrides that of the fleet, and `program` runs another build. */
  readonly start: (
    environment?: Readonly<Record<string, string>>,
    program?: string,
  ) => Promise<FleetInstance>;
  /** Sends a signed request to one of them. Throws if the response does not conform to the OpenAPI document. */
  readonly call: (instance: FleetInstance, method: string, path: string, body?: object) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

export type FleetInstance = {
  readonly url: string;
  /** The id of the process. */
  readonly pid: number;
  readonly output: () => string;
  /** Sends SIGKILL. Resolves when the process has ended. */
  readonly kill: () => Promise<void>;
  /** Sends SIGTERM. Resolves when the process has ended. */
  readonly stop: () => Promise<void>;
  /** Sends SIGSTOP. SIGCONT continues it. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

/** Creates a fleet. `environment` overrides that of a service on SQLite in its own folder, without a media server. */
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
  const launch = async (own: Readonly<Record<string, string>>, program: string): Promise<FleetInstance> => {
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
    const pid = (await listProcesses(part.groupId)).find(({ name }) => name !== 'sh')?.pid ?? 0;
    return { url, pid, output: part.output, ...ends, freeze: part.freeze, thaw: part.thaw };
  };
  return {
    keys,
    dataDir: settings.DATA_DIR,
    start: (own = {}, program = ownProgram) => withFreshPorts(() => launch(own, program)),
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
