import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type ChildSettings, type RunningChild, startChild } from './binaries/child-process.ts';

/*
 * What a development server starts ends with it. One that is killed, or crashes, cannot see to that itself: a shell
 * beside it holds the other end of a pipe, and ends what is left when the pipe breaks. And it writes down what runs:
 * the next one on the same data directory waits for that, or ends it, if a process is still the program that it was.
 */

export type Household = {
  readonly start: (settings: ChildSettings) => RunningChild;
  /** To be called when all of it has ended. */
  readonly close: () => void;
};

type Member = { readonly pid: number; readonly name: string };

/** What runs, and the development server that it belongs to. */
type Register = { readonly owner: Member; readonly started: readonly Member[] };

/**
 * Throws while another one runs on the data directory: two cannot share it, and the first must not lose its media
 * server to the second.
 */
export async function openHousehold(dataDir: string, progress: (line: string) => void): Promise<Household> {
  await endLeftovers(dataDir, progress);
  const owner = { pid: process.pid, name: (await nameOfProcess(process.pid)) ?? '' };
  const guard = startGuard();
  const members = new Set<RunningChild>();
  const note = (): void => {
    const started = [...members].map(({ pid, name }) => ({ pid, name }));
    writeWhole(fileIn(dataDir), JSON.stringify({ owner, started } satisfies Register));
    guard.watch(started.map(({ pid }) => pid));
  };
  note();
  return {
    start: (settings) => {
      const child = startChild(settings);
      members.add(child);
      note();
      void child.ended.then(() => {
        if (members.delete(child)) note();
      });
      return child;
    },
    close: () => {
      members.clear();
      guard.close();
      rmSync(fileIn(dataDir), { force: true });
    },
  };
}

/** Each line is all that is to be ended, the last one counts; what does not end when it is asked is killed. */
const GUARD = [
  'pids=; while read -r line; do pids=$line; done',
  '[ -n "$pids" ] || exit 0',
  'kill -TERM $pids',
  'sleep 5',
  'kill -KILL $pids',
].join('\n');

type Guard = { readonly watch: (pids: readonly number[]) => void; readonly close: () => void };

/** In a session of its own: what ends us, a closed terminal too, does not end it. */
function startGuard(): Guard {
  const shell: ChildProcess = spawn('/bin/sh', ['-c', GUARD, 'rtc-dev-guard'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell there is the register.
  shell.on('error', () => {});
  shell.stdin?.on('error', () => {});
  shell.unref();
  const watch = (pids: readonly number[]): void => {
    shell.stdin?.write(`${pids.join(' ')}\n`);
  };
  return {
    watch,
    close: () => {
      watch([]);
      shell.stdin?.end();
    },
  };
}

const LEFTOVER_PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

async function endLeftovers(dataDir: string, progress: (line: string) => void): Promise<void> {
  const register = readRegister(dataDir);
  if (register === undefined) return;
  const { owner, started } = register;
  if (owner.pid !== process.pid && (await isRunning(owner))) {
    throw new Error(
      `rtc dev already runs with ${dataDir} (process ${owner.pid}). Stop it, or set another DATA_DIR for this one.`,
    );
  }
  await Promise.all(
    started.map(async (member) => {
      if (!(await isRunning(member))) return;
      await endMember(member);
      progress(`ended ${member.name}, left behind by an earlier run`);
    }),
  );
}

async function endMember(member: Member): Promise<void> {
  signal(member, 'SIGTERM');
  const deadline = Date.now() + LEFTOVER_PATIENCE_MS;
  while (await isRunning(member)) {
    if (Date.now() > deadline) return signal(member, 'SIGKILL');
    await sleep(LOOK_AGAIN_MS);
  }
}

function signal({ pid }: Member, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has just ended.
  }
}

/** One that cannot be read says nothing of what runs. */
function readRegister(dataDir: string): Register | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as Register;
  } catch {
    return undefined;
  }
}

/** A number alone may be another program's by now. */
async function isRunning({ pid, name }: Member): Promise<boolean> {
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

/** Who reads it meanwhile, and who comes after a kill, finds the old one or the new one. */
function writeWhole(file: string, text: string): void {
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, text, { mode: 0o600 });
  renameSync(aside, file);
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'dev-processes.json');
}
