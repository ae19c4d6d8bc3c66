import { join } from 'node:path';
import type { WorkerKind } from '../../../contract/choices.ts';
import type { Environment } from '../../app/config/config.ts';
import type { ProcessSupervisor } from '../process-supervisor.ts';
import type { AddOn } from './add-on.ts';

export type SpeechWorkerSettings = {
  readonly supervisor: Pick<ProcessSupervisor, 'start'>;
  /** The service's environment, because the workers share its database and its recordings. */
  readonly environment: Environment;
  readonly dataDir: string;
  /** Path of bin/rtc.js. */
  readonly launcher: string;
};

/** Returns the add-on for `rtc worker stt-live` or `rtc worker stt-post`. */
export function speechWorker(kind: WorkerKind, settings: SpeechWorkerSettings): AddOn {
  const { supervisor, environment, dataDir, launcher } = settings;
  const logFile = join(dataDir, `${kind}.log`);
  const given = Object.entries(environment).filter(
    // Leaves out the METRICS settings, because the service uses that port.
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('METRICS'),
  );
  return {
    name: kind,
    logFile,
    start: (logMode) =>
      supervisor.start({
        // The process sets its title to this name, so that a later run can recognise an orphan.
        name: kind,
        program: process.execPath,
        // With --json the last line of its log has the error as data.
        args: [launcher, 'worker', kind, '--json'],
        // glibc keeps the memory of calls that have ended unless it has few arenas.
        env: { MALLOC_ARENA_MAX: '2', ...Object.fromEntries(given) },
        logFile,
        logMode,
      }),
    isReady: (serviceUrl) => isReported(kind, serviceUrl),
  };
}

const CAPABILITIES = { 'stt-live': 'transcriptionLive', 'stt-post': 'transcriptionPost' } as const;

type Health = { readonly capabilities: Readonly<Record<string, boolean>> };

async function isReported(kind: WorkerKind, serviceUrl: string): Promise<boolean> {
  const health = (await (await fetch(`${serviceUrl}/v1/health`)).json()) as Health;
  return health.capabilities[CAPABILITIES[kind]] === true;
}
