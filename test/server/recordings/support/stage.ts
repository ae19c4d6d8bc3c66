import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { Recording, RecordingStart } from '../../../../src/contract/recordings.ts';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../../src/server/media-simulator/embedded-media-server.ts';
import type { EmbeddedMediaSettings } from '../../../../src/server/media-simulator/settings.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import { createLivekitMediaServer } from '../../../../src/server/platform/livekit/livekit-media-server.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../../support/service.ts';
import { signatureHeaders } from '../../../support/sign.ts';

export const MEDIA_KEYS = { apiKey: 'media-key', apiSecret: 'media-secret-of-32-characters-00' };
/** Short times for steps that take seconds on a real recorder. */
const TIMINGS = {
  startMs: 20,
  startResponseMs: 5,
  recorderJoinMs: 20,
  activeMs: 60,
  finishMs: 40,
  noResponseMs: 200,
};

/** The real service with the embedded media server, which records into a folder or, with settings, into a bucket. */
export type Stage = {
  readonly service: TestService;
  readonly media: EmbeddedMediaServer;
  readonly recordingDir: string;
  /** Sends a signed request and does not follow redirects. For tests of bytes and redirects. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  /** Starts the recording of a room in which somebody publishes. Resolves when the recorder records. */
  readonly record: (room?: string) => Promise<RecordingStart>;
  /** Records, stops, and waits until the file is complete. */
  readonly recordWhole: (room?: string) => Promise<Recording>;
  /** Resolves when the recorder of the egress has media. */
  readonly untilActive: (egressId: string) => Promise<void>;
  readonly get: (recordingId: string) => Promise<Recording>;
  /** The state of the egress in the media server. */
  readonly egressStatus: (egressId: string) => Promise<string | undefined>;
  close(): Promise<void>;
};

export type StageOptions = {
  readonly environment?: TestServiceOptions['environment'];
  readonly media?: Partial<EmbeddedMediaSettings>;
  /** The clock of the service. The media server has that of the system. */
  readonly clock?: TestServiceOptions['clock'];
};

export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const recordingDir = await mkdtemp(join(tmpdir(), 'rtc-recordings-'));
  const media = await startEmbeddedMediaServer({
    host: '127.0.0.1',
    port: 0,
    ...MEDIA_KEYS,
    clock: systemClock,
    ids: systemIds,
    recordingDir,
    timings: TIMINGS,
    ...options.media,
  });
  const service = await startTestService({
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    livekit: { url: media.url.replace('http', 'ws'), ...MEDIA_KEYS },
    environment: {
      RECORDING_DIR: recordingDir,
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      ...options.environment,
    },
  });
  const mediaServer = createLivekitMediaServer({ url: media.url, ...MEDIA_KEYS });
  const findEgress = async (egressId: string) => (await mediaServer.listEgress({ egressId }))[0];
  const untilActive = (egressId: string): Promise<void> =>
    until(async () => (await findEgress(egressId))?.status === 'EGRESS_ACTIVE');
  const get = async (recordingId: string): Promise<Recording> => {
    const response = await service.call('GET', `/v1/recordings/${encodeURIComponent(recordingId)}`);
    expect(response.status, response.text).toBe(200);
    return response.json;
  };
  const record = async (room = `room-${randomUUID()}`): Promise<RecordingStart> => {
    await service.call('POST', '/v1/rooms', { body: { name: room } });
    media.control.join(room, { identity: 'ada' });
    media.control.publish(room, 'ada');
    const path = `/v1/rooms/${encodeURIComponent(room)}/recording/start`;
    const response = await service.call('POST', path);
    expect(response.status, response.text).toBe(201);
    const started: RecordingStart = response.json;
    await untilActive(started.egressId);
    return started;
  };
  return {
    service,
    media,
    recordingDir,
    untilActive,
    egressStatus: async (egressId) => (await findEgress(egressId))?.status,
    get,
    record,
    recordWhole: async (room) => {
      const { egressId, roomId } = await record(room);
      await service.call('POST', `/v1/rooms/${encodeURIComponent(roomId)}/recording/stop`);
      await until(async () => (await get(egressId)).endedAt !== null);
      return await get(egressId);
    },
    fetch: (path, init = {}) => {
      const timestamp = Math.floor(Date.now() / 1000);
      const signing = { apiKey: service.apiKey, apiSecret: service.apiSecret, timestamp };
      const signed = signatureHeaders({ method: init.method ?? 'GET', path }, signing);
      return fetch(service.url + path, {
        redirect: 'manual',
        ...init,
        headers: { ...signed, ...(init.headers as Record<string, string>) },
      });
    },
    close: async () => {
      await service.close();
      await media.close();
      await rm(recordingDir, { recursive: true, force: true });
    },
  };
}

/** Waits for a condition. Unlike expect.poll, it also works outside of tests. */
async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  await vi.waitUntil(isSo, { timeout: 60_000, interval: 20 });
}
