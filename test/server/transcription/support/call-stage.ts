import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RoomServiceClient } from 'livekit-server-sdk';
import { vi } from 'vitest';
import type { Token } from '../../../../src/contract/tokens.ts';
import type {
  LiveStarted,
  LiveStopped,
  LiveTranscription,
  Segment,
} from '../../../../src/contract/transcription.ts';
import { loadConfig } from '../../../../src/server/app/config/config.ts';
import type { Speech } from '../../../../src/server/app/open-speech.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import { type RunningWorker, startWorker } from '../../../../src/server/worker.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { type Livekit, startLivekit } from '../../../support/parts/livekit.ts';
import { type JoinedParticipant, join as joinRoom } from '../../../support/parts/participant.ts';
import { type RunningPart, runPart } from '../../../support/parts/run-part.ts';
import { speakToFile } from '../../../support/parts/speech.ts';
import { openTestModel } from '../../../support/parts/speech-model.ts';
import type { TestService } from '../../../support/service.ts';
import { measuresAccuracy } from '../../../support/word-error-rate.ts';
import { chooseServicePort, startHookedService } from '../../webhooks/support/hooked-service.ts';

/** Timeouts of tests in which people speak in real time. */
export const SPOKEN = { timeout: 90_000 };

/**
 * Number of words of a sentence that a test waits for. A busy machine loses sound between the speaker and the listener, and
 * so words. Therefore only the long run counts all of them.
 */
export const listWords = (sentence: number): number => (measuresAccuracy ? sentence : 1);

/** The real LiveKit, the whole service that receives its webhooks, workers, and participants who speak. */
export type CallStage = {
  readonly livekit: Livekit;
  readonly service: TestService;
  readonly rooms: RoomServiceClient;
  readonly newRoom: () => Promise<string>;
  readonly enter: (room: string, identity: string, name?: string) => Promise<JoinedParticipant>;
  /** Resolves to a file in which espeak-ng says the text, after a pause in which the track gets its listeners. */
  readonly speech: (text: string) => Promise<string>;
  /** Resolves to a file with the same pause before a recording. */
  readonly reading: (path: string) => Promise<string>;
  readonly start: (room: string, body?: object) => Promise<LiveStarted>;
  /** Resolves when the agent is in the room, or has left it. The media server lists hidden participants. */
  readonly untilListening: (room: string, isListening?: boolean) => Promise<void>;
  /** Returns the stored id of the worker that holds the room's live transcription; null if there is none. */
  readonly leaseOwner: (room: string) => string | null;
  readonly stop: (room: string) => Promise<LiveStopped>;
  readonly read: (room: string) => Promise<LiveTranscription>;
  /** Resolves to the final segments when they match. */
  readonly untilSegments: (
    room: string,
    accepts: (segments: readonly Segment[]) => boolean,
    deadlineMs?: number,
  ) => Promise<readonly Segment[]>;
  /** Starts a worker in this process, as `rtc worker stt-live` composes it. Default: with the real model. */
  readonly startWorker: (speech?: Speech) => Promise<StageWorker>;
  /** Starts a worker in its own process. */
  readonly startWorkerProcess: () => Promise<RunningPart & { readonly pid: () => number }>;
  /** Stops the workers of a failed test. Otherwise they would claim the rooms of the next test. */
  readonly dismissWorkers: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type StageWorker = RunningWorker & { readonly logLines: readonly LogLine[] };

const WORKER_PROCESS = join(import.meta.dirname, 'live-worker-process.ts');

export async function startCallStage(): Promise<CallStage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'rtc-live-'));
  const { port, webhookUrl } = await chooseServicePort();
  const livekit = await startLivekit({ webhookUrl });
  const service = await startHookedService(port, { livekit, environment: { DATA_DIR: dataDir } });
  const settings = {
    API_KEY: service.apiKey,
    API_SECRET: service.apiSecret,
    DATA_DIR: dataDir,
    LIVEKIT_URL: livekit.url,
    LIVEKIT_API_KEY: livekit.apiKey,
    LIVEKIT_API_SECRET: livekit.apiSecret,
  };
  const rooms = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
  const present: JoinedParticipant[] = [];
  const workers: RunningWorker[] = [];
  const processes: RunningPart[] = [];
  const dismissWorkers = async (): Promise<void> => {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    await Promise.all(processes.splice(0).map((part) => part.close()));
  };
  const path = (room: string): string => `/v1/rooms/${room}/transcription`;
  const read = async (room: string) => (await service.call('GET', path(room))).json as LiveTranscription;
  return {
    livekit,
    service,
    rooms,
    newRoom: async () => {
      const room = `room-${randomUUID()}`;
      await service.call('POST', '/v1/rooms', { body: { name: room } });
      return room;
    },
    enter: async (room, identity, name = identity.toUpperCase()) => {
      const body = { roomId: room, userId: identity, name, role: 'participant' };
      const { url, token } = (await service.call('POST', '/v1/token', { body })).json as Token;
      const participant = await joinRoom(url, token);
      present.push(participant);
      return participant;
    },
    speech: async (text) => {
      const file = join(dataDir, `${randomUUID()}.wav`);
      await speakToFile({ text, path: file });
      await putSilenceBefore(file);
      return file;
    },
    reading: async (path) => {
      const file = join(dataDir, `${randomUUID()}.wav`);
      await copyFile(path, file);
      await putSilenceBefore(file);
      return file;
    },
    start: async (room, body = {}) =>
      (await service.call('POST', `${path(room)}/start`, { body })).json as LiveStarted,
    untilListening: async (room, isListening = true) => {
      const isThere = async (): Promise<boolean> =>
        (await rooms.listParticipants(room)).some(({ identity }) => identity.startsWith('stt-live-'));
      await vi.waitUntil(async () => (await isThere()) === isListening, { timeout: 60_000, interval: 50 });
    },
    leaseOwner: (room) => {
      const database = new DatabaseSync(join(dataDir, 'rtc.sqlite'), { readOnly: true });
      const row = database
        .prepare(`select "leaseOwner" from transcriptions where room = ? and kind = 'live'`)
        .get(room);
      database.close();
      return typeof row?.leaseOwner === 'string' ? row.leaseOwner : null;
    },
    stop: async (room) => (await service.call('POST', `${path(room)}/stop`)).json as LiveStopped,
    read,
    untilSegments: async (room, accepts, deadlineMs = 20_000) => {
      const seen: { segments: readonly Segment[] } = { segments: [] };
      await vi
        .waitUntil(
          async () => {
            seen.segments = (await read(room)).segments.filter(({ final }) => final);
            return accepts(seen.segments);
          },
          { timeout: deadlineMs, interval: 100 },
        )
        .catch(() => {
          const texts = seen.segments.map(({ speaker, text }) => `${speaker}: ${text}`);
          throw new Error(`not as wanted after ${deadlineMs} ms:\n${texts.join('\n')}`);
        });
      return seen.segments;
    },
    startWorker: async (speech = openTestModel()) => {
      const logLines: LogLine[] = [];
      const parts = { log: collectingLog(logLines), clock: systemClock, ids: systemIds };
      const worker = await startWorker(loadConfig(settings), { ...parts, kind: 'stt-live', speech });
      workers.push(worker);
      return { ...worker, logLines };
    },
    startWorkerProcess: async () => {
      const command = { name: 'stt-live', program: process.execPath, args: [WORKER_PROCESS] };
      const part = runPart({ ...command, env: { ...process.env, ...settings } });
      processes.push(part);
      await vi.waitUntil(() => part.output().includes('"working"'), 45_000);
      return { ...part, pid: () => Number(/pid (\d+)/.exec(part.output())?.[1]) };
    },
    dismissWorkers,
    close: async () => {
      await Promise.all(present.map((participant) => participant.leave()));
      await dismissWorkers();
      await service.close();
      await livekit.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Size of the header of a WAV file that contains only samples. */
const HEADER_BYTES = 44;
const SILENCE_SECONDS = 1;

async function putSilenceBefore(path: string): Promise<void> {
  const file = await readFile(path);
  const bytesPerSecond = file.readUInt32LE(28);
  const silence = Buffer.alloc(bytesPerSecond * SILENCE_SECONDS);
  const longer = Buffer.concat([file.subarray(0, HEADER_BYTES), silence, file.subarray(HEADER_BYTES)]);
  longer.writeUInt32LE(longer.length - 8, 4);
  longer.writeUInt32LE(longer.length - HEADER_BYTES, 40);
  await writeFile(path, longer);
}
