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

export async function rememberChildren(dataDir: string, children: readonly RunningChild[]): Promise<void> {
  const started: readonly Started[] = children.map(({ pid, name }) => ({ pid, name }));
  await writeFile(fileIn(dataDir), JSON.stringify(started), { mode: 0o600 });
}

export async function forgetChildren(dataDir: string): Promise<void> {
  await rm(fileIn(dataDir), { force: true });
}

/** Answers the names of what it ended. */
export async function endLeftovers(dataDir: string): Promise<readonly string[]> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch(() => '[]');
  const ended: string[] = [];
  for (const { pid, name } of JSON.parse(text) as readonly Started[]) {
    if ((await nameOfProcess(pid)) !== name.slice(0, MAX_COMM_LENGTH)) continue;
    process.kill(pid, 'SIGTERM');
    ended.push(name);
  }
  await forgetChildren(dataDir);
  return ended;
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
