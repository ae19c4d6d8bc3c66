import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProofContext } from '../../part.ts';
import type { StorageFault } from './strike.ts';

const DISK_BYTES = 48 * 1024 * 1024;
const FILL_AGAIN_MS = 100;
const BLOCK = Buffer.alloc(65_536);

/** Only root may mount a disk. */
export const mayMount = process.getuid?.() === 0;

/** A folder for data, on a small disk (a tmpfs) if this process may mount one. */
export type SmallDisk = {
  readonly folder: string;
  /** Uses up the remaining bytes again and again, until the returned function frees them. */
  readonly fill: () => () => void;
};

export function mountSmallDisk({ cleanUp }: Pick<ProofContext, 'cleanUp'>): SmallDisk {
  const disk = mkdtempSync(join(tmpdir(), 'rtc-small-disk-'));
  cleanUp(() => rmSync(disk, { recursive: true }));
  if (mayMount) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=755`, 'rtc-prove', disk]);
    cleanUp(() => execFileSync('umount', ['--lazy', disk]));
  }
  const folder = join(disk, 'data');
  mkdirSync(folder, { mode: 0o700 });
  const filler = join(disk, 'filler');
  return {
    folder,
    fill: () => {
      const timer = setInterval(() => appendAll(filler), FILL_AGAIN_MS);
      appendAll(filler);
      return () => {
        clearInterval(timer);
        rmSync(filler);
      };
    },
  };
}

/** Appends smaller and smaller blocks until not one byte is left. */
function appendAll(path: string): void {
  for (let size = BLOCK.length; size >= 1; size = Math.floor(size / 2)) {
    while (isAppended(path, size));
  }
}

function isAppended(path: string, size: number): boolean {
  try {
    appendFileSync(path, BLOCK.subarray(0, size));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

/** The database cannot write, because its disk has not one byte left. */
export function fullDisk(
  disk: SmallDisk,
  { seconds, boundMs }: Pick<StorageFault, 'seconds' | 'boundMs'>,
): StorageFault {
  return {
    name: 'while its disk is full',
    seconds,
    boundMs,
    effect: 'refuses',
    begin: async () => disk.fill(),
  };
}
