import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listProcesses } from '../../test/support/process-group.ts';
import { readPeak } from './process-figures.ts';

const LOOK_MS = 25;

export type Peaks = {
  /** Highest resident memory of the worker itself. */
  readonly workerMb: number;
  /** Highest resident memory of a process that it started. */
  readonly childMb: number;
  /** Most bytes in its folder for temporary files. */
  readonly temporaryBytes: number;
};

export type MemoryWatch = {
  /** Returns the peaks since the last call. */
  readonly take: () => Peaks;
  readonly close: () => void;
};

/** Looks at the processes of a group and at a folder, 40 times a second. Linux keeps the peak of each process itself. */
export function watchMemory(groupId: number, folder: string): MemoryWatch {
  const none: Peaks = { workerMb: 0, childMb: 0, temporaryBytes: 0 };
  let peaks = none;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    for (const { pid, name } of await listProcesses(groupId)) {
      if (name === 'sh') continue;
      const megabytes = await readPeak(pid);
      if (name === 'ffmpeg') peaks = { ...peaks, childMb: Math.max(peaks.childMb, megabytes) };
      else peaks = { ...peaks, workerMb: Math.max(peaks.workerMb, megabytes) };
    }
    peaks = { ...peaks, temporaryBytes: Math.max(peaks.temporaryBytes, await bytesIn(folder)) };
    isLooking = false;
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  return {
    take: () => {
      const taken = peaks;
      peaks = none;
      return taken;
    },
    close: () => clearInterval(timer),
  };
}

/** Bytes of all files in a folder. A file that is deleted meanwhile counts as empty. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(
      async ({ parentPath, name }) => (await stat(join(parentPath, name)).catch(() => ({ size: 0 }))).size,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
