import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunningChild } from '../adapters/media-binary/child-process.ts';

/*
 * A development server that was killed cannot stop what it started. So it writes down what runs, and the next one
 * on the same data directory ends what is left, if the process of that number is still the program it was.
 */

type Started = { readonly pid: number; readonly name: string };

/** What runs, and the development server that it belongs to. */
type Remembered = { readonly owner: Started; readonly started: readonly Started[] };

export async function rememberChildren(dataDir: string, children: readonly RunningChild[]): Promise<void> {
  const owner = { pid: process.pid, name: (await nameOfProcess(process.pid)) ?? '' };
  const remembered: Remembered = { owner, started: children.map(({ pid, name }) => ({ pid, name })) };
  await writeFile(fileIn(dataDir), JSON.stringify(remembered), { mode: 0o600 });
}

export async function forgetChildren(dataDir: string): Promise<void> {
  await rm(fileIn(dataDir), { force: true });
}

/**
 * Answers the names of what it ended. Throws while the one that started it still runs: two cannot share a data
 * directory, and the first must not lose its media server to the second.
 */
export async function endLeftovers(dataDir: string): Promise<readonly string[]> {
  const remembered = await readRemembered(dataDir);
  if (remembered === undefined) return [];
  const { owner, started } = remembered;
  if (owner.pid !== process.pid && (await isRunning(owner))) {
    throw new Error(
      `rtc dev already runs with ${dataDir} (process ${owner.pid}). Stop it, or set another DATA_DIR for this one.`,
    );
  }
  const ended: string[] = [];
  for (const child of started) {
    if (!(await isRunning(child))) continue;
    process.kill(child.pid, 'SIGTERM');
    ended.push(child.name);
  }
  await forgetChildren(dataDir);
  return ended;
}

async function readRemembered(dataDir: string): Promise<Remembered | undefined> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Remembered);
}

/** A number alone may be another program's by now. */
async function isRunning({ pid, name }: Started): Promise<boolean> {
  return name !== '' && (await nameOfProcess(pid)) === name.slice(0, MAX_COMM_LENGTH);
}

/** The kernel keeps 15 characters of a program's name. */
const MAX_COMM_LENGTH = 15;

async function nameOfProcess(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'comm=', '-p', String(pid)]);
    return stdout.trim().slice(0, MAX_COMM_LENGTH);
  } catch {
    return undefined;
  }
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'dev-processes.json');
}
