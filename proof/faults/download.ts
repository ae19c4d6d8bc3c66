import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { startRtc } from '../../test/cli/support/process.ts';
import { type BucketStage, poll } from './bucket-stage.ts';

export type Downloaded = {
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

const BLOCK = Buffer.alloc(4 * 1024 * 1024);
const BLOCKS = 96;
/** The bucket is killed when this many bytes have arrived. */
const ARRIVED_BYTES = 16 * 1024 * 1024;
const AWAY_MS = 1_000;

/** Puts a large file in the place of the object, so that its download takes some time. */
export async function enlarge(object: string): Promise<void> {
  const handle = await open(object, 'w');
  for (let block = 0; block < BLOCKS; block += 1) {
    for (let at = 0; at < BLOCK.length; at += 4) BLOCK.writeUInt32LE((block * 2_654_435_761 + at) >>> 0, at);
    await handle.write(BLOCK);
  }
  await handle.close();
}

/** Downloads the recording with `rtc`, kills the bucket in the middle, starts it again and repeats the command. */
export async function downloadInterrupted(
  { s3, environment }: BucketStage,
  { id, object }: { readonly id: string; readonly object: string },
): Promise<Downloaded> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-download-'));
  const target = join(folder, 'lesson.mp4');
  const part = `${target}.${id}.part`;
  const run = () => startRtc(['recordings', 'download', id, target], { env: environment, stdin: '' });
  try {
    const interrupted = run();
    const isOver = interrupted.ended.then(() => true);
    await poll(async () =>
      (await arrived(part)) >= ARRIVED_BYTES || (await isPast(isOver)) ? true : undefined,
    );
    await s3.kill();
    const { code } = await interrupted.ended;
    const keptBytes = await arrived(part);
    const isLeftAsWhole = existsSync(target);
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
    await s3.startAgain();
    const repeated = await run().ended;
    const isSame = existsSync(target) && (await hashOf(target)) === (await hashOf(object));
    return {
      isPlaced: keptBytes > 0 && keptBytes < BLOCK.length * BLOCKS,
      ...{ codes: [code, repeated.code], isLeftAsWhole, keptBytes, isSame },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function arrived(part: string): Promise<number> {
  return existsSync(part) ? (await stat(part)).size : 0;
}

async function isPast(promise: Promise<boolean>): Promise<boolean> {
  return await Promise.race([promise, Promise.resolve(false)]);
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
