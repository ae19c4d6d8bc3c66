import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isEgressInstalled } from '../../test/support/parts/egress.ts';
import {
  atMost,
  exactly,
  type Figure,
  type Findings,
  observed,
  type ProofContext,
  type ProofPart,
} from '../part.ts';
import {
  type BucketStage,
  poll,
  record,
  recordWhole,
  type ShownRecording,
  sizeOf,
  startBucketStage,
  startRealBucketStage,
  stopRecording,
  untilEnded,
} from './bucket-stage.ts';
import { downloadInterrupted, enlarge } from './download.ts';

const ROOMS = { long: 6, short: 2 } as const;
/** LiveKit's own recorder runs a process for each recording. */
const REAL_ROOMS = { long: 3, short: 1 } as const;
const AWAY_SECONDS = { long: 15, short: 2 } as const;
/** A request to the bucket has ten seconds. */
const BOUND_MS = 12_000;

export const bucketFaults: ProofPart = {
  name: 'bucket-faults',
  title: 'The bucket of the recordings is killed and started again',
  claim:
    'Whatever is done with a recording when its bucket dies: its status is true, it has one egress_ended, its file is whole or not there, nothing ' +
    'is reported as deleted that is not, and everything works again without intervention when the bucket is back.',
  attack: [
    'Recordings are in a bucket of a real S3 server (versitygw), which is killed (SIGKILL) and started again on the same folder. The service is a ' +
      'process of its own. The recorder is the embedded one (docs/embedded-media.md), which uploads by S3 itself.',
    `The bucket dies as ${ROOMS.long} recordings are stopped, before their files are uploaded; as their files have just been uploaded, before the ` +
      'service has measured them; and in the middle of a download by the `rtc` command, which is repeated when the bucket is back. While the bucket ' +
      `is away for ${AWAY_SECONDS.long} s, recordings are listed, shown, downloaded and deleted.`,
    `Where LiveKit's own recorder (egress) is a program of the machine, ${REAL_ROOMS.long} recordings of a real LiveKit end while the bucket dies at the same two ` +
      'moments. The results say whether it was.',
  ],
  notClaimed: [
    "What LiveKit's own recorder keeps of a file that it could not upload. Its recordings here have no picture.",
    'A bucket that is slow or answers with errors: here it is there or gone.',
    'A bucket that loses or changes what it has stored.',
  ],
  run: killBucket,
};

async function killBucket(context: ProofContext): Promise<Findings> {
  const { form, report } = context;
  const stage = await startBucketStage(context);
  const figures: Figure[] = [];
  for (const moment of ['uploaded', 'measured'] as const) {
    report(`the bucket dies before recordings are ${moment}`);
    const rooms = Array.from({ length: ROOMS[form] }, (_, index) => `${moment}-${index}`);
    figures.push(...(await killAtEnd(stage, { moment, rooms, awayMs: AWAY_SECONDS[form] * 1000 })));
  }
  const isReal = await isEgressInstalled();
  if (isReal) figures.push(...(await killUnderRealRecorder(context)));
  report('the bucket dies during a download');
  figures.push(...(await killInDownload(stage)));
  report('recordings are read and deleted without the bucket');
  figures.push(...(await callWithoutBucket(stage, AWAY_SECONDS[form] * 1000)));
  const ran = isReal
    ? "LiveKit's own recorder took part too"
    : "LiveKit's own recorder is not on this machine";
  return { figures, notes: [`The embedded recorder took part. ${ran}.`] };
}

async function killUnderRealRecorder(context: ProofContext): Promise<readonly Figure[]> {
  const { form, report } = context;
  const stage = await startRealBucketStage(context);
  const figures: Figure[] = [];
  for (const moment of ['uploaded', 'measured'] as const) {
    report(`the bucket dies before recordings of LiveKit's recorder are ${moment}`);
    const rooms = Array.from({ length: REAL_ROOMS[form] }, (_, index) => `real-${moment}-${index}`);
    const found = await killAtEnd(stage, { moment, rooms, awayMs: AWAY_SECONDS[form] * 1000 });
    figures.push(...found.map((figure) => ({ ...figure, name: `LiveKit's recorder, ${figure.name}` })));
  }
  return figures;
}

type AtEnd = {
  readonly moment: 'uploaded' | 'measured';
  readonly rooms: readonly string[];
  readonly awayMs: number;
};

async function killAtEnd(stage: BucketStage, { moment, rooms, awayMs }: AtEnd): Promise<readonly Figure[]> {
  const ids = await Promise.all(rooms.map((room) => record(stage, room)));
  if (moment === 'uploaded') await stage.s3.kill();
  await Promise.all(rooms.map((room) => stopRecording(stage, room)));
  if (moment === 'measured') {
    await poll(async () => (rooms.some((room) => isUploaded(stage, room)) ? true : undefined));
    await stage.s3.kill();
  }
  await delay(awayMs);
  await stage.s3.startAgain();
  const ended = await Promise.all(ids.map((id) => untilEnded(stage, id)));
  await stage.untilReported(ids);
  const sizes = await Promise.all(ended.map(({ object }) => sizeOf(object)));
  const untrue = ended.filter((one, index) => !isTrue(one, sizes[index]));
  const events = ids.map((id) => stage.endsOf(id));
  const name = `killed before recordings are ${moment}`;
  return [
    observed(`${name}: recordings`, ids.length),
    observed(`${name}: ended as stopped`, ended.filter(({ status }) => status === 'stopped').length),
    exactly(`${name}: with a status that is not true`, untrue.length, 0),
    exactly(
      `${name}: with exactly one egress_ended of the same status`,
      events.filter((all, index) => all.length === 1 && all[0]?.status === ended[index]?.status).length,
      ids.length,
    ),
  ];
}

/** A stopped recording has its whole file; any other one says why it has none. */
function isTrue({ status, error, sizeBytes }: ShownRecording, size: number | undefined): boolean {
  return status === 'stopped' ? size !== undefined && size === sizeBytes : error !== null;
}

function isUploaded({ s3 }: BucketStage, room: string): boolean {
  const names = readdirSync(s3.bucketFolder, { recursive: true, encoding: 'utf8' });
  return names.some((name) => name.includes(room) && /\.(mp4|ogg)$/.test(name));
}

async function killInDownload(stage: BucketStage): Promise<readonly Figure[]> {
  const recording = await recordWhole(stage, 'download');
  await enlarge(recording.object);
  const { isPlaced, codes, isLeftAsWhole, keptBytes, isSame } = await downloadInterrupted(stage, recording);
  const name = 'killed during a download';
  return [
    exactly(`${name}: kills between the first and the last byte`, Number(isPlaced), 1),
    observed(`${name}: bytes that had arrived`, keptBytes),
    observed(`${name}: exit code of the command`, codes[0] ?? -1),
    exactly(`${name}: commands that reported success`, Number(codes[0] === 0), 0),
    exactly(`${name}: incomplete files with the name of a whole one`, Number(isLeftAsWhole), 0),
    exactly(`${name}: exit code of the command when it is repeated`, codes[1] ?? -1, 0),
    exactly(`${name}: whole files with the same bytes then`, Number(isSame), 1),
  ];
}

const PROBLEM = '"urn:problem-type:rtc:';
const PAUSE_MS = 50;

async function callWithoutBucket(stage: BucketStage, awayMs: number): Promise<readonly Figure[]> {
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
  const name = 'while the bucket is away';
  return [
    observed(`${name}: recordings listed and shown`, seen.reads),
    exactly(`${name}: of these, failed`, seen.failedReads, 0),
    observed(`${name}: deletions`, seen.deletions),
    exactly(`${name}: deletions that were not refused with a problem`, seen.wrongDeletions, 0),
    atMost({
      name: `${name}: slowest response`,
      measured: Math.round(seen.slowestMs),
      bound: BOUND_MS,
      unit: ' ms',
    }),
    exactly(`${name}: recordings that a refused deletion left whole`, Number(isKept), 1),
    exactly(
      `${name}: recordings that were deleted with their file afterwards`,
      Number(deleted.status === 204 && isGone),
      1,
    ),
  ];
}
