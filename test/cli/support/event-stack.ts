import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { chooseServicePort, startHookedService } from '../../server/webhooks/support/hooked-service.ts';
import type { TestService } from '../../support/service.ts';
import { type Run, type RunOptions, run } from './run.ts';

/** The real service with events: the embedded media server sends webhooks to it, and it delivers to loopback. */
export type EventStack = {
  readonly service: TestService;
  readonly media: EmbeddedMediaServer;
  readonly environment: Readonly<Record<string, string>>;
  readonly dataDir: string;
  /** Runs `rtc` against the service. Single spaces separate the words. */
  rtc(line: string, options?: RunOptions): Promise<Run>;
  /** Lets a participant join, which creates the room. room_created, room_started and participant_joined are then stored. */
  join(room: string, identity: string): Promise<void>;
  leave(room: string, identity: string): Promise<void>;
  /** Stops the service. It can be started again at the same address with the same data. */
  stopService(): Promise<void>;
  startService(): Promise<void>;
  close(): Promise<void>;
};

const MEDIA_KEY = { apiKey: 'media-key', apiSecret: 'media-secret-of-more-than-32-characters' };
const OUR_KEY = { API_KEY: 'key-of-the-tests', API_SECRET: 'secret-of-the-tests-0123456789' };

export async function startEventStack(): Promise<EventStack> {
  const dataDir = await mkdtemp(join(tmpdir(), 'rtc-cli-events-'));
  const { port, webhookUrl } = await chooseServicePort();
  const media = await startEmbeddedMediaServer({
    host: '127.0.0.1',
    port: 0,
    ...MEDIA_KEY,
    clock: systemClock,
    ids: systemIds,
    recordingDir: dataDir,
    webhookUrls: [webhookUrl],
  });
  const start = (): Promise<TestService> =>
    startHookedService(port, {
      livekit: { url: media.url.replace('http', 'ws'), ...MEDIA_KEY },
      environment: { ...OUR_KEY, DATA_DIR: dataDir, RECORDING_DIR: dataDir },
    });
  const stack = { service: await start() };
  const environment = {
    RTC_URL: stack.service.url,
    RTC_API_KEY: OUR_KEY.API_KEY,
    RTC_API_SECRET: OUR_KEY.API_SECRET,
  };
  return {
    get service() {
      return stack.service;
    },
    media,
    environment,
    dataDir,
    rtc: (line, options = {}) =>
      run(line.split(' '), { ...options, env: { ...environment, ...options.env } }),
    join: async (room, identity) => {
      media.control.join(room, { identity, name: identity });
      await media.control.webhooksSettled();
    },
    leave: async (room, identity) => {
      media.control.leave(room, identity);
      await media.control.webhooksSettled();
    },
    stopService: () => stack.service.close(),
    startService: async () => {
      stack.service = await start();
    },
    close: async () => {
      await stack.service.close();
      await media.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Returns the JSON objects of the stream's complete lines so far. */
export function jsonLines<T>(soFar: string): readonly T[] {
  const whole = soFar.slice(0, soFar.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
