import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EgressClient, type EgressStatus } from 'livekit-server-sdk';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../src/server/media-simulator/embedded-media-server.ts';
import { systemClock, systemIds } from '../../src/server/platform/system.ts';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../test/server/webhooks/support/receiver.ts';
import { freePort } from '../../test/support/parts/run-part.ts';
import type { ExperimentContext } from '../experiment.ts';
import { mediaServerSettings, type SignedClient, startService } from './signed-client.ts';

const MEDIA_KEYS = { apiKey: 'media-key', apiSecret: 'media-secret-of-32-characters-00' };
const CONNECTIONS = 64;

export type RecordingEnd = { readonly status: unknown; readonly isSigned: boolean };

/** One instance of the service that records rooms of a media server, and a receiver of its webhooks. */
export type RecordingStage = {
  readonly client: SignedClient;
  /** The environment of an `rtc` command that calls the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves to the state of the egress in the media server. */
  readonly egressStatus: (egressId: string) => Promise<EgressStatus | undefined>;
  /** Returns the `egress_ended` events of a recording that the webhook received. */
  readonly listEnds: (recordingId: string) => readonly RecordingEnd[];
  /** Resolves when each recording has an `egress_ended`, or when none has arrived for a while. */
  readonly untilReported: (recordingIds: readonly string[]) => Promise<void>;
};

/** The stage with the embedded media server and its recorder. */
export type RecorderStage = RecordingStage & {
  readonly media: EmbeddedMediaServer;
  readonly recordingDir: string;
};

export async function startRecorderStage(
  { cleanUp }: Pick<ExperimentContext, 'cleanUp'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<RecorderStage> {
  const recordingDir = await mkdtemp(join(tmpdir(), 'rtc-recordings-'));
  cleanUp(() => rm(recordingDir, { recursive: true, force: true }));
  const port = await freePort();
  const media = await startEmbeddedMediaServer({
    ...{ host: '127.0.0.1', port: 0, ...MEDIA_KEYS, clock: systemClock, ids: systemIds, recordingDir },
    webhookUrls: [`http://127.0.0.1:${port}/livekit/webhook`],
  });
  cleanUp(media.close);
  const stage = await startRecordingStage(
    { cleanUp },
    { port, mediaServer: { ...MEDIA_KEYS, url: media.url.replace('http', 'ws') } },
    { RECORDING_DIR: recordingDir, ...environment },
  );
  return { ...stage, media, recordingDir };
}

type RecordedServer = {
  /** Where the service listens for the events of the media server. */
  readonly port: number;
  readonly mediaServer: Parameters<typeof mediaServerSettings>[0];
};

export async function startRecordingStage(
  { cleanUp }: Pick<ExperimentContext, 'cleanUp'>,
  { port, mediaServer }: RecordedServer,
  settings: Readonly<Record<string, string>>,
): Promise<RecordingStage> {
  const environment = { ...mediaServerSettings(mediaServer), ...settings };
  const service = { environment, port, connections: CONNECTIONS };
  const { fleet, instance, client } = await startService({ cleanUp }, service);
  const ends = await watchEnds(client, cleanUp);
  const { apiKey, apiSecret } = mediaServer;
  const egress = new EgressClient(mediaServer.url.replace('ws', 'http'), apiKey, apiSecret);
  const keys = { RTC_API_KEY: fleet.keys.apiKey, RTC_API_SECRET: fleet.keys.apiSecret };
  return {
    ...{ client, listEnds: ends.of },
    environment: { RTC_URL: instance.url, ...keys },
    egressStatus: async (egressId) => (await egress.listEgress({ egressId }))[0]?.status,
    untilReported: (ids) => untilReported(ids, ends.of),
  };
}

async function watchEnds(client: SignedClient, cleanUp: ExperimentContext['cleanUp']) {
  const receiver = await startReceiver();
  cleanUp(receiver.close);
  const { json } = await client.call('POST', '/v1/webhooks', { url: receiver.url, events: ['egress_ended'] });
  const secret = String(json.secret);
  const isSigned = (received: Received): boolean =>
    received.headers['x-service-webhook-signature'] === expectedSignatures(received, secret).specified;
  return {
    of: (recordingId: string): readonly RecordingEnd[] =>
      receiver.received
        .filter(({ body }) => body.recording?.egressId === recordingId)
        .map((received) => ({ status: received.body.recording?.status, isSigned: isSigned(received) })),
  };
}

const POLL_INTERVAL_MS = 250;
const SILENCE_MS = 30_000;

async function untilReported(ids: readonly string[], listEnds: RecorderStage['listEnds']): Promise<void> {
  const count = (): number => ids.filter((id) => listEnds(id).length > 0).length;
  let last = { count: count(), at: performance.now() };
  while (last.count < ids.length && performance.now() - last.at < SILENCE_MS) {
    await delay(POLL_INTERVAL_MS);
    if (count() > last.count) last = { count: count(), at: performance.now() };
  }
}
