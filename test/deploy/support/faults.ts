import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { findRecorderProgram } from '../../../src/server/dev/add-ons/recorder.ts';
import { LOOPBACK_ALLOWED, register } from '../../server/webhooks/support/hooked-service.ts';
import {
  type MediaKeys,
  postMediaEvent,
  roomFinished,
  roomLife,
} from '../../server/webhooks/support/media-webhook.ts';
import { respondWith, startReceiver } from '../../server/webhooks/support/receiver.ts';
import { mountMemory } from '../../support/mount-memory.ts';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { startPostgres } from '../../support/parts/postgres.ts';
import { type Redis, startRedis } from '../../support/parts/redis.ts';
import { freePort, type RunningPart, runPart } from '../../support/parts/run-part.ts';
import '../../support/parts/speech-model.ts';
import type { TestService } from '../../support/service.ts';
import type { SkippableClock } from '../../support/skippable-clock.ts';

/* Eight faults that an operator has to distinguish. Each is caused at its own service with its own LiveKit. */

/** The parts that a fault breaks. */
export type FaultStage = {
  readonly context: TestContext;
  /** Registers a part that is closed at the end of the test. */
  readonly closes: (part: { readonly close: () => Promise<unknown> }) => void;
  readonly livekit: Livekit;
  readonly clock: SkippableClock;
  /** METRICS_PORT of a worker, if the fault has one. */
  readonly workerPort: number;
};

export type Planting = {
  /** Settings that override those of the service. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Starts what must exist before the fault, besides the service. */
  readonly prepare?: (service: TestService) => Promise<unknown>;
  readonly plant: (service: TestService) => Promise<unknown>;
};

export type Fault = {
  /** Alerts that fire within the first minutes. */
  readonly alerts: readonly string[];
  /** Conditions on values of the dashboard after the fault, by the titles of their panels. */
  readonly panels: Readonly<Record<string, (value: number) => boolean>>;
  readonly begin: (stage: FaultStage) => Promise<Planting>;
};

const isNo = (value: number): boolean => value === 0;
const isYes = (value: number): boolean => value === 1;

export const FAULTS: Readonly<Record<string, Fault>> = {
  'a receiver that is down': {
    alerts: ['RtcReceiverFails'],
    panels: {
      'Failed attempts': (count) => count > 0,
      'Failed attempts by number': (count) => count >= 0,
    },
    begin: async ({ closes, livekit }) => {
      const receiver = await startReceiver(respondWith(200));
      closes(receiver);
      return {
        environment: LOOPBACK_ALLOWED,
        prepare: (service) => register(service, receiver.url, ['*']),
        plant: async (service) => {
          await receiver.close();
          for (const event of roomLife('after')) await postMediaEvent(service.url, event, livekit);
        },
      };
    },
  },
  'a LiveKit that is frozen': {
    alerts: ['RtcMediaServerUnavailable'],
    panels: { 'Media server': isNo, Database: isYes },
    begin: async ({ livekit }) => ({ plant: async () => livekit.freeze() }),
  },
  'a recorder that was killed': {
    alerts: ['RtcMediaWorkersGone'],
    panels: { Recorders: isNo, 'Media server': isYes },
    begin: async ({ closes }) => {
      const redis = await startRedis();
      closes(redis);
      const livekit = await startLivekit({ redis });
      closes(livekit);
      const recorder = await startRecorder(redis, livekit);
      closes(recorder);
      return {
        environment: { ...makeEnvironment(livekit), REDIS_URL: redis.url },
        plant: () => recorder.kill(),
      };
    },
  },
  'a disk that is full': {
    alerts: ['RtcDatabaseNotWritable', 'RtcDiskFull'],
    panels: { 'Room on the disk': isNo, 'Database takes writes': isNo, Database: isYes },
    begin: async ({ context, closes, livekit }) => {
      const disk = await mountMemory(context, 24);
      closes({ close: disk.unmount });
      return {
        environment: { DATA_DIR: disk.path },
        plant: (service) => fillDisk(disk.path, service, livekit),
      };
    },
  },
  'a database that is gone': {
    alerts: ['RtcDatabaseDown'],
    panels: { Database: isNo, 'Media server': isYes },
    begin: async ({ closes }) => {
      const postgres = await startPostgres();
      closes(postgres);
      const ENCRYPTION_KEY = randomBytes(32).toString('base64');
      return { environment: { DATABASE_URL: postgres.url, ENCRYPTION_KEY }, plant: postgres.close };
    },
  },
  'a clock that is off': {
    alerts: ['RtcClockOff', 'RtcRequestsRefused'],
    panels: { 'Clock apart by': (seconds) => seconds > 590, Database: isYes },
    begin: async ({ clock }) => ({ plant: async () => clock.skip(600_000) }),
  },
  'a wrong key of LiveKit': {
    alerts: ['RtcMediaServerRefusesKey'],
    panels: { 'Media server accepts key': isNo, 'Media server': isYes },
    begin: async ({ closes }) => {
      const port = await freePort();
      const livekit = await startLivekit({ port });
      return {
        environment: makeEnvironment(livekit),
        plant: async () => {
          await livekit.close();
          closes(await startLivekit({ port, apiKey: livekit.apiKey }));
        },
      };
    },
  },
  'a speech worker that is dead': {
    alerts: ['RtcSpeechWorkersGone'],
    panels: { 'Live speech workers': isNo, 'Media server': isYes },
    begin: async ({ context, closes, livekit, workerPort }) => {
      const disk = await mountMemory(context, 24);
      const environment = {
        DATA_DIR: disk.path,
        API_KEY: 'api',
        API_SECRET: randomBytes(16).toString('hex'),
      };
      const worker = runPart({
        name: 'worker',
        program: process.execPath,
        args: [WORKER],
        env: { ...process.env, ...makeEnvironment(livekit), ...environment, METRICS_PORT: `${workerPort}` },
      });
      closes({ close: () => worker.close().then(disk.unmount) });
      return { environment, plant: worker.kill };
    },
  },
};

/**
 * Starts LiveKit's recorder if `rtc dev` would find it. Otherwise subscribes to the recorder's channel, which LiveKit takes
 * for a recorder.
 */
async function startRecorder(redis: Redis, { url, apiKey, apiSecret }: Livekit): Promise<RunningPart> {
  const found = await findRecorderProgram(process.env).catch(() => undefined);
  if (found?.kind !== 'program') {
    const args = ['-p', new URL(redis.url).port, 'SUBSCRIBE', 'EgressInternal|StartEgress|REQ'];
    return runPart({ name: 'recorder', program: 'redis-cli', args });
  }
  const EGRESS_CONFIG_BODY = JSON.stringify({
    ...{ api_key: apiKey, api_secret: apiSecret, ws_url: url, redis: { address: redis.address } },
    ...{ template_port: await freePort(), cpu_cost: { room_composite_cpu_cost: 0.001 } },
  });
  const env = { ...process.env, EGRESS_CONFIG_BODY };
  return runPart({ name: 'recorder', program: found.path, args: [], env });
}

const WORKER = join(import.meta.dirname, '../../server/transcription/support/live-worker-process.ts');

function makeEnvironment({ url, apiKey, apiSecret }: Livekit): Readonly<Record<string, string>> {
  return { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret };
}

/** Fills the disk until events are refused, because SQLite's log still has free space. */
async function fillDisk(folder: string, service: TestService, keys: MediaKeys): Promise<void> {
  await writeFile(join(folder, 'filler'), Buffer.alloc(32 * 1024 * 1024)).catch(() => undefined);
  let status = 200;
  for (let index = 0; status === 200; index += 1) {
    status = await postMediaEvent(service.url, roomFinished(`filling-${index}`), keys);
  }
}
