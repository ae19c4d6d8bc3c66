import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '../../../src/server/app/create-store.ts';
import type { Store } from '../../../src/server/app/store.ts';
import { createLog } from '../../../src/server/platform/pino-log.ts';
import { systemClock } from '../../../src/server/platform/system.ts';
import type { WorkerKind } from '../../../src/server/transcription/store.ts';
import { LAUNCHER } from '../../../test/support/parts/built.ts';
import { type Livekit, startLivekit } from '../../../test/support/parts/livekit.ts';

/** A database, a media server, and workers as a user starts them. */
export type SpeechStage = {
  readonly store: Store;
  readonly livekit: Livekit;
  readonly folder: string;
  readonly recordingDir: string;
  readonly startWorker: (kind: WorkerKind, onLine?: (line: string) => void) => Promise<BenchWorker>;
  /** Starts `rtc serve` on this database; resolves to its URL. It ends with the stage. */
  readonly startService: () => Promise<string>;
  /** Environment of `rtc` for that service. */
  readonly environment: NodeJS.ProcessEnv;
  readonly close: () => Promise<void>;
};

type BenchWorker = {
  /** Peak resident memory of the worker and its current processes, in bytes. */
  readonly peakBytes: () => number;
  /** Resident memory of the worker and of the processes that listen to rooms for it, in bytes. */
  readonly residentBytes: () => number;
  /** Processor time of these processes so far, in seconds. */
  readonly processorSeconds: () => number;
  readonly close: () => Promise<void>;
};

/** Starts the stage. `settings` are additional settings of the workers, such as a bucket. */
export async function openStage(settings: Readonly<Record<string, string>> = {}): Promise<SpeechStage> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-bench-speech-'));
  const recordingDir = join(folder, 'recordings');
  await mkdir(recordingDir);
  const livekit = await startLivekit();
  const database = { sqlitePath: join(folder, 'rtc.sqlite') };
  const store = await openStore({ database, clock: systemClock, log: createLog('warn') });
  const environment = {
    ...process.env,
    API_KEY: 'bench',
    API_SECRET: randomBytes(24).toString('hex'),
    DATA_DIR: folder,
    RECORDING_DIR: recordingDir,
    LIVEKIT_URL: livekit.url,
    LIVEKIT_API_KEY: livekit.apiKey,
    LIVEKIT_API_SECRET: livekit.apiSecret,
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
    ...settings,
  };
  const services: ChildProcess[] = [];
  return {
    ...{ store, livekit, folder, recordingDir, environment },
    startService: async () => {
      const env = { ...environment, PORT: '0' };
      const child = spawn(process.execPath, [LAUNCHER, 'serve'], {
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      services.push(child);
      return await new Promise((resolve, reject) => {
        child.once('exit', () => reject(new Error('the service ended: is the project built?')));
        createInterface(child.stderr).on('line', (line) => {
          const url = /"url":"([^"]+)"/.exec(line)?.[1];
          if (line.includes('"listening"') && url !== undefined) resolve(url);
        });
      });
    },
    startWorker: async (kind, onLine) => {
      const child = spawn(process.execPath, [LAUNCHER, 'worker', kind], {
        env: onLine === undefined ? environment : { ...environment, LOG_LEVEL: 'debug' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      if (onLine !== undefined) createInterface(child.stderr).on('line', onLine);
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output = `${output}${text}`.slice(-10_000);
        });
      }
      while (!output.includes('working')) {
        if (child.exitCode !== null) throw new Error(`${kind} ended: is the project built?`);
        await delay(50);
      }
      return {
        peakBytes: () => readMemory(child.pid, 'VmHWM'),
        residentBytes: () => readMemory(child.pid, 'VmRSS'),
        processorSeconds: () => readProcessorSeconds(child.pid),
        close: async () => {
          child.kill();
          if (child.exitCode === null) await once(child, 'exit');
        },
      };
    },
    close: async () => {
      for (const service of services) service.kill();
      await Promise.all(services.map((service) => service.exitCode ?? once(service, 'exit')));
      await store.close();
      await livekit.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Linux counts this time in hundredths of a second: in user and in system mode, and of children that have ended. */
function readProcessorSeconds(pid: number | undefined): number {
  const ticks = listProcesses(pid).flatMap((process) => {
    // The program's name before the fields ends with `)`.
    const fields = readFileSync(`/proc/${process}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields.slice(11, 15).map(Number);
  });
  return ticks.reduce((sum, some) => sum + some, 0) / 100;
}

/** Reads a field of /proc/PID/status. */
function readMemory(pid: number | undefined, field: 'VmHWM' | 'VmRSS'): number {
  const sizes = listProcesses(pid).map((process) => {
    const status = readFileSync(`/proc/${process}/status`, 'utf8');
    // A process that has just ended has no memory.
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
  });
  return sizes.reduce((sum, some) => sum + some, 0);
}

/** Returns a process and its children. */
function listProcesses(pid: number | undefined): readonly (string | number)[] {
  if (pid === undefined) return [];
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return [pid, ...children];
}
