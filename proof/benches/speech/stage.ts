import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import { openStore } from '../../../src/server/app/create-store.ts';
import { createLog } from '../../../src/server/platform/pino-log.ts';
import { systemClock } from '../../../src/server/platform/system.ts';
import type { WorkerKind } from '../../../src/server/transcription/store.ts';
import { type Started, startRtc } from '../../../test/cli/support/process.ts';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { mediaServerSettings } from '../../support/signed-client.ts';

/** A database, a media server, and programs as a user starts them. */
export type SpeechStage = Awaited<ReturnType<typeof openStage>>;
export type BenchWorker = Awaited<ReturnType<SpeechStage['startWorker']>>;

export async function openStage() {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-bench-speech-'));
  const recordingDir = join(folder, 'recordings');
  await mkdir(recordingDir);
  const livekit = await startLivekit();
  const database = { sqlitePath: join(folder, 'rtc.sqlite') };
  const store = await openStore({ database, clock: systemClock, log: createLog('warn') });
  const environment = {
    // The models are below the home of the user.
    ...{ HOME: process.env.HOME ?? '', NODE_ENV: 'production', LOG_LEVEL: 'debug', PORT: '0' },
    ...{ API_KEY: 'bench', API_SECRET: randomBytes(24).toString('hex') },
    ...{ DATA_DIR: folder, RECORDING_DIR: recordingDir, ...mediaServerSettings(livekit) },
  };
  const started: Started[] = [];
  /** Starts a built `rtc` command on this database. It ends with the stage. */
  const start = (argv: readonly string[], settings: Readonly<Record<string, string>> = {}): Started => {
    const program = startRtc(argv, { env: { ...environment, ...settings } });
    started.push(program);
    return program;
  };
  const stop = ({ child, ended }: Started): Promise<unknown> => {
    child.kill();
    return ended;
  };
  return {
    ...{ store, livekit, recordingDir, start },
    startWorker: async (kind: WorkerKind) => {
      const worker = start(['worker', kind]);
      await worker.seen(/"working"/);
      return {
        output: worker.output,
        /** Peak resident memory of the worker and its current processes. */
        peakBytes: () => readPeakBytes(worker.child.pid),
        /** Processor time of these processes, and of those that have ended. */
        processorSeconds: () => readProcessorSeconds(worker.child.pid),
        close: () => stop(worker),
      };
    },
    close: async () => {
      await Promise.all(started.map(stop));
      await store.close();
      await livekit.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Lets somebody join a room whose microphone plays these 16-bit samples. `played` resolves at their end. */
export async function joinSpeaker(
  { livekit: { url, apiKey, apiSecret }, recordingDir }: SpeechStage,
  { room, identity }: { readonly room: string; readonly identity: string },
  { samples, rate }: { readonly samples: Int16Array; readonly rate: number },
) {
  const [raw, wav] = ['raw', 'wav'].map((ending) => join(recordingDir, `${randomUUID()}.${ending}`));
  if (raw === undefined || wav === undefined) throw new Error('a file has no name');
  await writeFile(raw, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
  await runFfmpeg(['-f', 's16le', '-ar', `${rate}`, '-ac', '1', '-i', raw, wav]);
  const token = new AccessToken(apiKey, apiSecret, { identity });
  token.addGrant({ roomJoin: true, room });
  // The room client reads NODE_ENV when it is loaded. Outside of production it prints a line for every caption.
  process.env.NODE_ENV = 'production';
  const { join: joinRoom } = await import('../../../test/support/parts/participant.ts');
  const joined = await joinRoom(url, await token.toJwt());
  return { play: async () => (await joined.publishWav(wav)).played, leave: joined.leave };
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

function readPeakBytes(pid: number | undefined): number {
  const sizes = listProcesses(pid).map((process) => {
    // A process that has just ended has no memory.
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${process}/status`, 'utf8'))?.[1];
    return Number(peak ?? 0) * 1024;
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
