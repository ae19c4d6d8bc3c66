import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';

const run = promisify(execFile);

export type MemoryDisk = {
  readonly path: string;
  readonly makeReadOnly: () => Promise<void>;
  readonly unmount: () => Promise<void>;
};

/** Mounts a file system in memory, of four MiB by default. This needs root, and a machine that allows it. */
export async function mountMemory(context: TestContext, mebibytes = 4): Promise<MemoryDisk> {
  const path = await mkdtemp(join(tmpdir(), 'rtc-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path]);
  } catch {
    await rm(path, { recursive: true });
    return context.skip('mounting a small disk is not allowed here');
  }
  return {
    path,
    makeReadOnly: async () => {
      await run('mount', ['-o', 'remount,ro', path]);
    },
    unmount: async () => {
      await run('umount', [path]);
      await rm(path, { recursive: true });
    },
  };
}
