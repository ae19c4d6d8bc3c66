import { EgressClient } from 'livekit-server-sdk';
import {
  expectedSignatures,
  type Received,
  startReceiver,
} from '../../test/server/webhooks/support/receiver.ts';
import { freePort } from '../../test/support/parts/run-part.ts';
import { type Cleaning, type ExperimentContext, makeFolder } from '../experiment.ts';
import { startEmbeddedMedia } from './embedded-media.ts';
import { untilEnoughOrSilence } from './poll.ts';
import { mediaServerSettings, type SignedClient, startService } from './signed-client.ts';

const CONNECTIONS = 64;

type ToldChange = { readonly status: unknown; readonly isSigned: boolean };

/** One instance of the service that records rooms of a media server, and a receiver of its webhooks. */
export type RecordingStage = Awaited<ReturnType<typeof startRecordingStage>>;

/** The stage with the embedded media server and its recorder. */
export type RecorderStage = Awaited<ReturnType<typeof startRecorderStage>>;

export async function startRecorderStage(
  { cleanUp }: Cleaning,
  environment: Readonly<Record<string, string>> = {},
) {
  const recordingDir = await makeFolder({ cleanUp });
  const port = await freePort();
  const webhookUrls = [`http://127.0.0.1:${port}/livekit/webhook`];
  const { media, at } = await startEmbeddedMedia({ cleanUp }, { recordingDir, webhookUrls });
  const server = { port, mediaServer: at(media.url) };
  const stage = await startRecordingStage({ cleanUp }, server, {
    RECORDING_DIR: recordingDir,
    ...environment,
  });
  /** Lets somebody join the room who can be heard. */
  const enter = (room: string): void => {
    media.control.join(room, { identity: 'ada' });
    media.control.publish(room, 'ada');
  };
  return { ...stage, media, recordingDir, enter };
}

type RecordedServer = {
  /** The address at which the service listens for the events of the media server. */
  readonly port: number;
  readonly mediaServer: Parameters<typeof mediaServerSettings>[0];
};

export async function startRecordingStage(
  { cleanUp }: Cleaning,
  { port, mediaServer }: RecordedServer,
  settings: Readonly<Record<string, string>>,
) {
  const environment = { ...mediaServerSettings(mediaServer), ...settings };
  const service = { environment, port, connections: CONNECTIONS };
  const { fleet, instance, client } = await startService({ cleanUp }, service);
  const ends = await watchEnds(client, cleanUp);
  const { apiKey, apiSecret } = mediaServer;
  const egress = new EgressClient(mediaServer.url.replace('ws', 'http'), apiKey, apiSecret);
  const keys = { RTC_API_KEY: fleet.keys.apiKey, RTC_API_SECRET: fleet.keys.apiSecret };
  return {
    client,
    /** Returns the `egress_ended` events of a recording that the webhook received. */
    listEnds: ends.of,
    /** The environment of an `rtc` command that calls the service. */
    environment: { RTC_URL: instance.url, ...keys },
    /** Resolves to the state of the egress in the media server. */
    egressStatus: async (egressId: string) => (await egress.listEgress({ egressId }))[0]?.status,
    /** Resolves when each recording has an `egress_ended`, or when none has arrived for a while. */
    untilReported: (ids: readonly string[]) => untilReported(ids, ends.of),
  };
}

async function watchEnds(client: SignedClient, cleanUp: ExperimentContext['cleanUp']) {
  const receiver = cleanUp(await startReceiver());
  const { json } = await client.call('POST', '/v1/webhooks', { url: receiver.url, events: ['egress_ended'] });
  const secret = String(json.secret);
  const isSigned = (received: Received): boolean =>
    received.headers['x-service-webhook-signature'] === expectedSignatures(received, secret).specified;
  return {
    of: (recordingId: string): readonly ToldChange[] =>
      receiver.received
        .filter(({ body }) => body.recording?.egressId === recordingId)
        .map((received) => ({ status: received.body.recording?.status, isSigned: isSigned(received) })),
  };
}

type ListEnds = (recordingId: string) => readonly ToldChange[];

async function untilReported(ids: readonly string[], listEnds: ListEnds): Promise<void> {
  const count = (): number => ids.filter((id) => listEnds(id).length > 0).length;
  const isEnough = (): boolean => count() >= ids.length;
  await untilEnoughOrSilence({ count, isEnough, everyMs: 250, silenceMs: 30_000 });
}

/** Starts to record a room; resolves to the id of the recording. */
export async function startRecording(
  { client }: Pick<RecordingStage, 'client'>,
  room: string,
  settings?: object,
): Promise<string> {
  const { json, status, text } = await client.call('POST', `/v1/rooms/${room}/recording/start`, settings);
  if (status !== 201) throw new Error(`the recording of ${room} did not start: ${status} ${text}`);
  return String(json.egressId);
}

/** A recording that has ended, as the service shows it. */
export type EndedRecording = {
  readonly status: unknown;
  readonly error: unknown;
  readonly sizeBytes: number | null;
  /** The path of its file; undefined if it names none. */
  readonly path: string | undefined;
  /** When it was seen, by performance.now(). */
  readonly seenAt: number;
};

/** Resolves to undefined while the recording has not ended. */
export async function findEnded(
  { client }: Pick<RecordingStage, 'client'>,
  id: string,
): Promise<EndedRecording | undefined> {
  const { status, json } = await client.call('GET', `/v1/recordings/${id}`);
  if (status !== 200 || json.endedAt === null) return undefined;
  const { path }: { readonly path?: string } = Object(json.file);
  const sizeBytes = typeof json.sizeBytes === 'number' ? json.sizeBytes : null;
  return { status: json.status, error: json.error, sizeBytes, path, seenAt: performance.now() };
}
