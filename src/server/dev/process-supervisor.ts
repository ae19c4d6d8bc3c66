import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { HintedError } from '../../contract/hint.ts';
import { type ChildSettings, type RunningChild, startChild } from './binaries/child-process.ts';

/*
 * Stops the children of a development server together with it. A server that is killed or crashes cannot do that
 * itself, so two things back it up. The orphan reaper, a shell process, reads from a pipe and stops the children when
 * the pipe breaks. The pid file in the data directory lists the running processes, and the next server on that
 * directory stops those that are left, provided that the pid still belongs to the same program.
 */

export type ProcessSupervisor = {
  readonly start: (settings: ChildSettings) => RunningChild;
  /** Must be called when all children have ended. */
  readonly close: () => void;
};

type ProcessRecord = { readonly pid: number; readonly name: string };

/** The content of the pid file: the development server and its running children. */
type PidFile = { readonly owner: ProcessRecord; readonly started: readonly ProcessRecord[] };

/**
 * Throws while another development server runs on the data directory. Two servers cannot share it, and the second one
 * must not stop the children of the first.
 */
export async function openProcessSupervisor(
  dataDir: string,
  progress: (line: string) => void,
): Promise<ProcessSupervisor> {
  await stopOrphans(dataDir, progress);
  const owner = { pid: process.pid, name: (await nameOfProcess(process.pid)) ?? '' };
  const reaper = startOrphanReaper();
  const children = new Set<RunningChild>();
  const update = (): void => {
    const started = [...children].map(({ pid, name }) => ({ pid, name }));
    replaceFile(pidFilePath(dataDir), JSON.stringify({ owner, started } satisfies PidFile));
    reaper.watch(started.map(({ pid }) => pid));
  };
  update();
  return {
    start: (settings) => {
      const child = startChild(settings);
      children.add(child);
      update();
      void child.ended.then(() => {
        if (children.delete(child)) update();
      });
      return child;
    },
    close: () => {
      children.clear();
      reaper.close();
      rmSync(pidFilePath(dataDir), { force: true });
    },
  };
}

/** Each line lists all pids to stop and replaces the previous line. Processes that ignore SIGTERM are killed. */
const REAPER_SCRIPT = [
  'pids=; while read -r line; do pids=$line; done',
  '[ -n "$pids" ] || exit 0',
  'kill -TERM $pids',
  'sleep 5',
  'kill -KILL $pids',
].join('\n');

type OrphanReaper = { readonly watch: (pids: readonly number[]) => void; readonly close: () => void };

/** Runs the reaper in its own session, so that a closed terminal does not end it together with us. */
function startOrphanReaper(): OrphanReaper {
  const shell: ChildProcess = spawn('/bin/sh', ['-c', REAPER_SCRIPT, 'rtc-dev-guard'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell only the pid file is used.
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

const ORPHAN_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;

async function stopOrphans(dataDir: string, progress: (line: string) => void): Promise<void> {
  const pidFile = readPidFile(dataDir);
  if (pidFile === undefined) return;
  const { owner, started } = pidFile;
  if (owner.pid !== process.pid && (await isRunning(owner))) {
    throw new HintedError(`rtc dev already runs with ${dataDir} (process ${owner.pid})`, {
      text: 'stop it, or set another DATA_DIR for this one',
    });
  }
  await Promise.all(
    started.map(async (orphan) => {
      if (!(await isRunning(orphan))) return;
      await stopOrphan(orphan);
      progress(`ended ${orphan.name}, left behind by an earlier run`);
    }),
  );
}

async function stopOrphan(orphan: ProcessRecord): Promise<void> {
  signal(orphan, 'SIGTERM');
  const deadline = performance.now() + ORPHAN_TIMEOUT_MS;
  while (await isRunning(orphan)) {
    if (performance.now() > deadline) return signal(orphan, 'SIGKILL');
    await sleep(POLL_INTERVAL_MS);
  }
}

function signal({ pid }: ProcessRecord, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has just ended.
  }
}

/** Returns undefined when there is no readable pid file. */
function readPidFile(dataDir: string): PidFile | undefined {
  try {
    return JSON.parse(readFileSync(pidFilePath(dataDir), 'utf8')) as PidFile;
  } catch {
    return undefined;
  }
}

/** Compares the name too, because the pid may belong to another program by now. */
async function isRunning({ pid, name }: ProcessRecord): Promise<boolean> {
  return name !== '' && (await nameOfProcess(pid)) === name.slice(0, MAX_COMM_LENGTH);
}

/** The kernel keeps 15 characters of a program's name. */
const MAX_COMM_LENGTH = 15;

async function nameOfProcess(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'comm=', '-p', String(pid)]);
    // macOS prints the path.
    return basename(stdout.trim()).slice(0, MAX_COMM_LENGTH);
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically: a reader, or the next server after a kill, finds the old content or the new one. */
function replaceFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, file);
}

function pidFilePath(dataDir: string): string {
  return join(dataDir, 'dev-processes.json');
}
