import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findCoreFiles } from './core-files.ts';
import { formsOf } from './secret-scan.ts';
import type { Target } from './target.ts';

export type Core = {
  readonly bytes: number;
  /** The names of the secrets that it contains. */
  readonly found: readonly string[];
};

const LOOK_MS = 100;
const LOOKS = 300;

/** Raises the limit of core files of the service, aborts it, and searches the core file. Undefined if the kernel wrote none. */
export async function abortWithCore({ fleet, instance, planted }: Target): Promise<Core | undefined> {
  const abortedMs = Date.now() - 1_000;
  await promisify(execFile)('prlimit', ['--pid', `${instance.pid}`, '--core=unlimited:']);
  process.kill(instance.pid, 'SIGABRT');
  for (let look = 0; look < LOOKS && (await isRunning(instance.pid)); look += 1) await delay(LOOK_MS);
  const [core] = await findCoreFiles([dirname(fleet.dataDir)], abortedMs);
  if (core === undefined) return undefined;
  const [path, bytes] = core;
  await rm(path);
  const found = planted.filter(({ secret }) => formsOf(secret).some((form) => bytes.includes(form)));
  return { bytes: bytes.length, found: found.map(({ name }) => name) };
}

/** The kernel writes the core file before the process becomes a zombie or is gone. */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  return stat !== undefined && !/\) [ZX] /.test(stat);
}
