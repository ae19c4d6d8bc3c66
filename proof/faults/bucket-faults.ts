import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { EgressStatus } from 'livekit-server-sdk';
import { startRtc } from '../../test/cli/support/process.ts';
import { isEgressInstalled, startEgress } from '../../test/support/parts/egress.ts';
import { startLivekit } from '../../test/support/parts/livekit.ts';
import { startRedis } from '../../test/support/parts/redis.ts';
import { freePort } from '../../test/support/parts/run-part.ts';
import { bucketSettings, type S3, startS3 } from '../../test/support/parts/s3.ts';
import {
  type Cleaning,
  type Experiment,
  type ExperimentContext,
  type Findings,
  makeFolder,
} from '../experiment.ts';
import { atMost, exactly, type Figure, type Figures, named, observed } from '../figures.ts';
import { killInEveryState } from '../support/faults.ts';
import { pollEvery } from '../support/poll.ts';
import {
  type EndedRecording,
  findEnded,
  type RecordingStage,
  startRecorderStage,
  startRecording,
  startRecordingStage,
} from '../support/recorder-stage.ts';
import { enter } from './nodes/people.ts';

const ROOMS = { long: 6, short: 2 } as const;
/** LiveKit's own recorder runs a process for each recording. */
const REAL_ROOMS = { long: 3, short: 1 } as const;
const AWAY_SECONDS = { long: 15, short: 2 } as const;
/** A request to the bucket has ten seconds. */
const BOUND_MS = 12_000;
const PROBLEM = '"urn:problem-type:rtc:';
const PAUSE_MS = 50;
const poll = pollEvery({ everyMs: 5, withinMs: 240_000 });
const BLOCK = Buffer.alloc(4 * 1024 * 1024);
const BLOCKS = 96;
/** The bucket is killed when this many bytes have arrived. */
const ARRIVED_BYTES = 16 * 1024 * 1024;
const AWAY_MS = 1_000;
export const bucketFaults: Experiment = { name: 'bucket-faults', run: killBucket };

/** The bucket dies while recordings end. */
const MOMENTS = [
  { slug: 'uploaded', name: 'killed before recordings are uploaded' },
  { slug: 'measured', name: 'killed before recordings are measured' },
] as const;

async function killBucket(context: ExperimentContext): Promise<Findings> {
  const { runSize, report } = context;
  const stage = await startBucketStage(context);
  const figures: Figure[] = [...(await killAtEnds(stage, context, { rooms: ROOMS[runSize], prefix: '' }))];
  const isReal = await isEgressInstalled();
  if (isReal) {
    const real = await startRealBucketStage(context);
    const found = await killAtEnds(real, context, { rooms: REAL_ROOMS[runSize], prefix: 'real-' });
    figures.push(...found.map((figure) => ({ ...figure, name: `LiveKit's recorder, ${figure.name}` })));
  }
  report('the bucket dies during a download');
  figures.push(...(await killInDownload(stage, await makeFolder(context))));
  report('recordings are read and deleted without the bucket');
  figures.push(...(await callWithoutBucket(stage, AWAY_SECONDS[runSize] * 1000)));
  const ran = isReal
    ? "LiveKit's own recorder took part too"
    : "LiveKit's own recorder is not on this machine";
  return { figures, notes: [`The embedded recorder took part. ${ran}.`] };
}

type Recorded = { readonly rooms: number; readonly prefix: string };

function killAtEnds(
  stage: BucketStage,
  context: ExperimentContext,
  { rooms, prefix }: Recorded,
): Promise<Figures> {
  return killInEveryState(context, {
    states: MOMENTS,
    kill: async ({ slug: moment }) => {
      const names = Array.from({ length: rooms }, (_, index) => `${prefix}${moment}-${index}`);
      const atEnd = { moment, rooms: names, awayMs: AWAY_SECONDS[context.runSize] * 1000 };
      return { figures: await killAtEnd(stage, atEnd), lines: [`${rooms} recordings`] };
    },
  });
}

type AtEnd = {
  readonly moment: (typeof MOMENTS)[number]['slug'];
  readonly rooms: readonly string[];
  readonly awayMs: number;
};

async function killAtEnd(stage: BucketStage, { moment, rooms, awayMs }: AtEnd): Promise<Figures> {
  const ids = await Promise.all(rooms.map((room) => record(stage, room)));
  if (moment === 'uploaded') await stage.s3.kill();
  await Promise.all(rooms.map((room) => stopRecording(stage, room)));
  if (moment === 'measured') {
    await poll(async () => rooms.some((room) => isUploaded(stage, room)));
    await stage.s3.kill();
  }
  await delay(awayMs);
  await stage.s3.startAgain();
  const ended = await Promise.all(ids.map((id) => poll(() => findEnded(stage, id))));
  await stage.untilReported(ids);
  const sizes = await Promise.all(ended.map((one) => readSize(toObject(stage, one))));
  const untrue = ended.filter((one, index) => !isTrue(one, sizes[index]));
  const events = ids.map((id) => stage.listEnds(id));
  const toldOnce = events.filter((all, index) => all.length === 1 && all[0]?.status === ended[index]?.status);
  return [
    observed('recordings', ids.length),
    observed('ended as stopped', ended.filter(({ status }) => status === 'stopped').length),
    exactly('with a status that is not true', untrue.length, 0),
    exactly('with exactly one egress_ended of the same status', toldOnce.length, ids.length),
  ];
}

/** A stopped recording has its whole file; any other one says why it has none. */
function isTrue({ status, error, sizeBytes }: EndedRecording, size: number | undefined): boolean {
  return status === 'stopped' ? size !== undefined && size === sizeBytes : error !== null;
}

function isUploaded({ s3 }: BucketStage, room: string): boolean {
  const names = readdirSync(s3.bucketFolder, { recursive: true, encoding: 'utf8' });
  return names.some((name) => name.includes(room) && /\.(mp4|ogg)$/.test(name));
}

async function killInDownload(stage: BucketStage, folder: string): Promise<Figures> {
  const recording = await recordWhole(stage, 'download');
  await enlarge(recording.object);
  const { isPlaced, codes, isLeftAsWhole, keptBytes, isSame } = await downloadInterrupted(
    stage,
    recording,
    folder,
  );
  return named('killed during a download', [
    exactly('kills between the first and the last byte', Number(isPlaced), 1),
    observed('bytes that had arrived', keptBytes),
    observed('exit code of the command', codes[0] ?? -1),
    exactly('commands that reported success', Number(codes[0] === 0), 0),
    exactly('incomplete files with the name of a whole one', Number(isLeftAsWhole), 0),
    exactly('exit code of the command when it is repeated', codes[1] ?? -1, 0),
    exactly('whole files with the same bytes then', Number(isSame), 1),
  ]);
}

async function callWithoutBucket(stage: BucketStage, awayMs: number): Promise<Figures> {
  const { client, s3 } = stage;
  const { id, object } = await recordWhole(stage, 'used');
  await s3.kill();
  const until = performance.now() + awayMs;
  const seen = { reads: 0, failedReads: 0, deletions: 0, wrongDeletions: 0, slowestMs: 0 };
  const timed = async (method: 'GET' | 'DELETE', path: string) => {
    const startedAt = performance.now();
    const response = await client.call(method, path);
    seen.slowestMs = Math.max(seen.slowestMs, performance.now() - startedAt);
    return response;
  };
  while (performance.now() < until) {
    for (const path of ['/v1/recordings', `/v1/recordings/${id}`]) {
      seen.reads += 1;
      if ((await timed('GET', path)).status !== 200) seen.failedReads += 1;
    }
    const { status, text } = await timed('DELETE', `/v1/recordings/${id}`);
    seen.deletions += 1;
    const isRefused = [502, 503, 504].includes(status) && text.includes(PROBLEM);
    if (!isRefused) seen.wrongDeletions += 1;
    await delay(PAUSE_MS);
  }
  await s3.startAgain();
  const isKept = existsSync(object) && (await client.call('GET', `/v1/recordings/${id}`)).status === 200;
  const deleted = await client.call('DELETE', `/v1/recordings/${id}`);
  const isGone = !existsSync(object) && (await client.call('GET', `/v1/recordings/${id}`)).status === 404;
  const slowest = { measured: Math.round(seen.slowestMs), bound: BOUND_MS, unit: ' ms' };
  const isDeleted = deleted.status === 204 && isGone;
  return named('while the bucket is away', [
    observed('recordings listed and shown', seen.reads),
    exactly('lists and pages of recordings that failed', seen.failedReads, 0),
    observed('deletions', seen.deletions),
    exactly('deletions that were not refused with a problem', seen.wrongDeletions, 0),
    atMost({ name: 'slowest response', ...slowest }),
    exactly('recordings that a refused deletion left whole', Number(isKept), 1),
    exactly('recordings that were deleted with their file afterwards', Number(isDeleted), 1),
  ]);
}

/** A stage of recordings, with an S3 server of its own as their bucket. */
type BucketStage = RecordingStage & {
  readonly s3: S3;
  /** Resolves when somebody is in the room who can be heard. */
  readonly enter: (room: string) => Promise<void>;
  /** Settings of each recording. */
  readonly settings?: object;
};

async function startBucketStage(context: Cleaning): Promise<BucketStage> {
  const s3 = context.cleanUp(await startS3());
  const stage = await startRecorderStage(context, bucketSettings(s3));
  return { ...stage, s3, enter: async (room) => stage.enter(room) };
}

/** The same stage with a real LiveKit and its own recorder. */
async function startRealBucketStage(context: Cleaning): Promise<BucketStage> {
  const { cleanUp } = context;
  const s3 = cleanUp(await startS3());
  const redis = cleanUp(await startRedis());
  const port = await freePort();
  const livekit = cleanUp(
    await startLivekit({ redis, webhookUrl: `http://127.0.0.1:${port}/livekit/webhook` }),
  );
  cleanUp(await startEgress({ redis, livekit }));
  const stage = await startRecordingStage(context, { port, mediaServer: livekit }, bucketSettings(s3));
  const enterRoom = async (room: string): Promise<void> => {
    const { joined } = await enter(stage.client, room, 'ada');
    cleanUp(joined.leave);
    await joined.publishTone();
  };
  // Recording the picture would start a browser for each recording.
  return { ...stage, s3, enter: enterRoom, settings: { audioOnly: true } };
}

/** Starts to record a room; resolves when its recorder records. */
async function record(stage: BucketStage, room: string): Promise<string> {
  await stage.client.call('POST', '/v1/rooms', { name: room });
  await stage.enter(room);
  const id = await startRecording(stage, room, stage.settings);
  await poll(async () => (await stage.egressStatus(id)) === EgressStatus.EGRESS_ACTIVE);
  return id;
}

async function stopRecording({ client }: BucketStage, room: string): Promise<void> {
  await client.call('POST', `/v1/rooms/${room}/recording/stop`);
}

/** Returns the path of the object in the folder of the bucket; undefined if the recording names no file. */
function toObject({ s3 }: BucketStage, { path }: EndedRecording): string | undefined {
  return path === undefined ? undefined : join(s3.bucketFolder, path);
}

/** Records a room for a moment; resolves to its id and the path of its object. */
async function recordWhole(
  stage: BucketStage,
  room: string,
): Promise<{ readonly id: string; readonly object: string }> {
  const id = await record(stage, room);
  await stopRecording(stage, room);
  const object = toObject(stage, await poll(() => findEnded(stage, id)));
  if (object === undefined || !existsSync(object)) throw new Error(`the recording of ${room} has no file`);
  return { id, object };
}

async function readSize(path: string | undefined): Promise<number | undefined> {
  if (path === undefined || !existsSync(path)) return undefined;
  return (await stat(path)).size;
}

type Downloaded = {
  /** Whether the bucket was killed between the first byte and the last one. */
  readonly isPlaced: boolean;
  /** Exit codes of the command that was interrupted, and of the one after it. */
  readonly codes: readonly [interrupted: number | null, repeated: number | null];
  /** Whether a file with the name of the whole one was there after the interruption. */
  readonly isLeftAsWhole: boolean;
  readonly keptBytes: number;
  /** Whether the second command completed the same bytes. */
  readonly isSame: boolean;
};

/** Puts a large file in the place of the object, so that its download takes some time. */
async function enlarge(object: string): Promise<void> {
  const handle = await open(object, 'w');
  for (let block = 0; block < BLOCKS; block += 1) {
    for (let at = 0; at < BLOCK.length; at += 4) BLOCK.writeUInt32LE((block * 2_654_435_761 + at) >>> 0, at);
    await handle.write(BLOCK);
  }
  await handle.close();
}

/** Downloads the recording with `rtc`, kills the bucket in the middle, starts it again and repeats the command. */
async function downloadInterrupted(
  { s3, environment }: BucketStage,
  { id, object }: { readonly id: string; readonly object: string },
  folder: string,
): Promise<Downloaded> {
  const target = join(folder, 'lesson.mp4');
  const part = `${target}.${id}.part`;
  const run = () => startRtc(['recordings', 'download', id, target], { env: environment, stdin: '' });
  const interrupted = run();
  const isOver = interrupted.ended.then(() => true);
  await poll(async () => (await arrived(part)) >= ARRIVED_BYTES || (await isPast(isOver)));
  await s3.kill();
  const { code } = await interrupted.ended;
  const keptBytes = await arrived(part);
  const isLeftAsWhole = existsSync(target);
  await delay(AWAY_MS);
  await s3.startAgain();
  const repeated = await run().ended;
  const isSame = existsSync(target) && (await computeHash(target)) === (await computeHash(object));
  return {
    isPlaced: keptBytes > 0 && keptBytes < BLOCK.length * BLOCKS,
    ...{ codes: [code, repeated.code], isLeftAsWhole, keptBytes, isSame },
  };
}

async function arrived(part: string): Promise<number> {
  return existsSync(part) ? (await stat(part)).size : 0;
}

async function isPast(promise: Promise<boolean>): Promise<boolean> {
  return await Promise.race([promise, Promise.resolve(false)]);
}

async function computeHash(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
