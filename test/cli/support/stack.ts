import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import type { EmbeddedMediaSettings } from '../../../src/server/media-simulator/settings.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { chooseServicePort } from '../../server/webhooks/support/hooked-service.ts';
import { startTestService, type TestService } from '../../support/service.ts';

/** The real service with the embedded media server, for tests of the command line. */
export type Stack = {
  readonly service: TestService;
  readonly media: EmbeddedMediaServer;
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of the embedded recorder. */
  readonly recordingDir: string;
  close(): Promise<void>;
};

const MEDIA_KEY = { apiKey: 'media-key', apiSecret: 'media-secret-of-more-than-32-characters' };

/** Short times for steps that take seconds on a real recorder. */
const TIMINGS = { startMs: 20, recorderJoinMs: 20, activeMs: 60, finishMs: 40, noRecorderMs: 200 };

export type StackSettings = Partial<EmbeddedMediaSettings> & {
  /** Settings of the service, which override those of the stack. */
  readonly environment?: Readonly<Record<string, string>>;
};

export async function startStack({ environment, ...settings }: StackSettings = {}): Promise<Stack> {
  const recordingDir = await mkdtemp(join(tmpdir(), 'rtc-cli-recordings-'));
  const { port, webhookUrl } = await chooseServicePort();
  const media = await startEmbeddedMediaServer({
    host: '127.0.0.1',
    port: 0,
    ...MEDIA_KEY,
    clock: systemClock,
    ids: systemIds,
    recordingDir,
    timings: TIMINGS,
    webhookUrls: [webhookUrl],
    ...settings,
  });
  const service = await startTestService({
    livekit: { url: media.url.replace('http', 'ws'), ...MEDIA_KEY },
    environment: { RECORDING_DIR: recordingDir, PORT: String(port), ...environment },
  });
  return {
    service,
    media,
    recordingDir,
    environment: {
      RTC_URL: service.url,
      RTC_API_KEY: service.apiKey,
      RTC_API_SECRET: service.apiSecret,
    },
    close: async () => {
      await service.close();
      await media.close();
      await rm(recordingDir, { recursive: true, force: true });
    },
  };
}
