import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import { openStore } from '../../../src/server/app/create-store.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { createLog } from '../../../src/server/platform/pino-log.ts';
import type { WorkerKind } from '../../../src/server/transcription/store.ts';
import { type Started, startRtc } from '../../../test/cli/support/process.ts';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { listDescendants } from '../../../test/support/process-group.ts';
import { readPeak } from '../../support/process-figures.ts';
import { mediaServerSettings } from '../../support/signed-client.ts';
import { sum } from '../../support/statistics.ts';

/** A database, a media server, and programs as a user starts them. */
export type SpeechStage = Awaited<ReturnType<typeof openStage>>;

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
        peakMb: () => sumOverProcesses(worker.child.pid, readPeak),
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
async function readProcessorSeconds(pid: number | undefined): Promise<number> {
  const ticks = await sumOverProcesses(pid, async (one) => {
    // The program's name before the fields ends with `)`.
    const stat = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '');
    return sum((stat.split(') ').at(-1)?.split(' ') ?? []).slice(11, 15).map(Number));
  });
  return ticks / 100;
}

/** Sums a figure of a process and of everything that it has started. */
async function sumOverProcesses(
  pid: number | undefined,
  readFigure: (pid: number) => Promise<number>,
): Promise<number> {
  if (pid === undefined) return 0;
  const pids = [pid, ...(await listDescendants(pid)).map((one) => one.pid)];
  return sum(await Promise.all(pids.map(readFigure)));
}
