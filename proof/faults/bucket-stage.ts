import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EgressStatus } from 'livekit-server-sdk';
import { startEgress } from '../../test/support/parts/egress.ts';
import { startLivekit } from '../../test/support/parts/livekit.ts';
import { startRedis } from '../../test/support/parts/redis.ts';
import { freePort } from '../../test/support/parts/run-part.ts';
import { bucketSettings, type S3, startS3 } from '../../test/support/parts/s3.ts';
import type { ProofContext } from '../part.ts';
import { pollEvery } from '../support/poll.ts';
import { enter } from './nodes/people.ts';
import { type RecordingStage, startRecorderStage, startRecordingStage } from '../support/recorder-stage.ts';

/** A stage of recordings, with an S3 server of its own as their bucket. */
export type BucketStage = RecordingStage & {
  readonly s3: S3;
  /** Resolves when somebody is in the room who can be heard. */
  readonly enter: (room: string) => Promise<void>;
  /** Settings of each recording. */
  readonly settings?: object;
};

export async function startBucketStage(context: Pick<ProofContext, 'cleanUp'>): Promise<BucketStage> {
  const s3 = await startS3();
  context.cleanUp(s3.close);
  const stage = await startRecorderStage(context, bucketSettings(s3));
  const { control } = stage.media;
  const enterRoom = async (room: string): Promise<void> => {
    control.join(room, { identity: 'ada' });
    control.publish(room, 'ada');
  };
  return { ...stage, s3, enter: enterRoom };
}

/** The same stage with a real LiveKit and its own recorder. */
export async function startRealBucketStage(context: Pick<ProofContext, 'cleanUp'>): Promise<BucketStage> {
  const { cleanUp } = context;
  const s3 = await startS3();
  cleanUp(s3.close);
  const redis = await startRedis();
  cleanUp(redis.close);
  const port = await freePort();
  const livekit = await startLivekit({ redis, webhookUrl: `http://127.0.0.1:${port}/livekit/webhook` });
  cleanUp(livekit.close);
  const egress = await startEgress({ redis, livekit });
  cleanUp(egress.close);
  const stage = await startRecordingStage(context, { port, mediaServer: livekit }, bucketSettings(s3));
  const enterRoom = async (room: string): Promise<void> => {
    const { joined } = await enter(stage.client, room, 'ada');
    cleanUp(joined.leave);
    await joined.publishTone();
  };
  // Recording the picture would start a browser for each recording.
  return { ...stage, s3, enter: enterRoom, settings: { audioOnly: true } };
}

/** A recording as the service shows it. */
export type ShownRecording = {
  readonly status: unknown;
  readonly error: unknown;
  readonly sizeBytes: number | null;
  /** Path of the object in the folder of the bucket; undefined if the recording names no file. */
  readonly object: string | undefined;
};

/** Starts to record a room; resolves when its recorder records. */
export async function record(stage: BucketStage, room: string): Promise<string> {
  const { client } = stage;
  await client.call('POST', '/v1/rooms', { name: room });
  await stage.enter(room);
  const { json, status, text } = await client.call(
    'POST',
    `/v1/rooms/${room}/recording/start`,
    stage.settings,
  );
  if (status !== 201) throw new Error(`the recording of ${room} did not start: ${status} ${text}`);
  const id = String(json.egressId);
  await poll(async () => ((await stage.egressStatus(id)) === EgressStatus.EGRESS_ACTIVE ? true : undefined));
  return id;
}

export async function stopRecording({ client }: BucketStage, room: string): Promise<void> {
  await client.call('POST', `/v1/rooms/${room}/recording/stop`);
}

/** Resolves when the recording has ended. */
export async function untilEnded(stage: BucketStage, id: string): Promise<ShownRecording> {
  return await poll(async () => {
    const { status, json } = await stage.client.call('GET', `/v1/recordings/${id}`);
    if (status !== 200 || json.endedAt === null) return undefined;
    const file: { readonly path?: string } = Object(json.file);
    return {
      status: json.status,
      error: json.error,
      sizeBytes: typeof json.sizeBytes === 'number' ? json.sizeBytes : null,
      object: file.path === undefined ? undefined : join(stage.s3.bucketFolder, file.path),
    };
  });
}

/** Records a room for a moment; resolves to its id and the path of its object. */
export async function recordWhole(
  stage: BucketStage,
  room: string,
): Promise<{ readonly id: string; readonly object: string }> {
  const id = await record(stage, room);
  await stopRecording(stage, room);
  const { object } = await untilEnded(stage, id);
  if (object === undefined || !existsSync(object)) throw new Error(`the recording of ${room} has no file`);
  return { id, object };
}

export async function sizeOf(path: string | undefined): Promise<number | undefined> {
  if (path === undefined || !existsSync(path)) return undefined;
  return (await stat(path)).size;
}

const LOOK_MS = 5;
const DEADLINE_MS = 240_000;
export const poll = pollEvery({ everyMs: LOOK_MS, withinMs: DEADLINE_MS });
