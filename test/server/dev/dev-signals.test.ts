import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LAUNCHER } from '../../support/parts/built.ts';
import { freePort } from '../../support/parts/run-part.ts';

/* `rtc dev` with the real LiveKit, ended by the signals that npm sends and that impatient people send. */

/** The cache of the account that runs the tests. It has what is built only once. */
const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');

let folder: string;
const started: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-signals-'));
});
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

type ProcessSupervisor = {
  readonly owner: { readonly pid: number };
  readonly started: readonly { readonly pid: number; readonly name: string }[];
};

/** Starts `rtc dev` and waits until it is ready. Returns the started process and the ids of all processes. */
async function startDev(program: string, argv: readonly string[], environment: Record<string, string> = {}) {
  const dataDir = join(folder, `data-${started.length}`);
  const child = spawn(program, argv, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_CACHE_HOME: CACHE,
      DATA_DIR: dataDir,
      PORT: String(await freePort()),
      ...environment,
    },
  });
  started.push(child);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  await vi.waitUntil(() => output.includes('Ctrl-C stops'), 30_000);
  const register = join(dataDir, 'dev-processes.json');
  const supervisor = JSON.parse(readFileSync(register, 'utf8')) as ProcessSupervisor;
  expect(supervisor.started.map(({ name }) => name)).toContain('livekit-server');
  const pids = [supervisor.owner.pid, ...supervisor.started.map(({ pid }) => pid)];
  return { child, register, areAllGone: () => vi.waitUntil(() => !pids.some(isAlive), 15_000) };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('rtc dev', { timeout: 60_000 }, () => {
  it('ends in order when the shell in which npm started it is gone', async () => {
    // npm runs a shell in between, and sets the name of the script in the environment.
    const script = `"${process.execPath}" "${LAUNCHER}" dev --media livekit --without stt-live,stt-post; true`;
    const dev = await startDev('/bin/sh', ['-c', script], { npm_lifecycle_event: 'start' });
    dev.child.kill('SIGKILL');
    await dev.areAllGone();
    expect(existsSync(dev.register)).toBe(false);
  });

  it('leaves nothing behind after a second SIGTERM, which does not wait', async () => {
    const dev = await startDev(process.execPath, [
      LAUNCHER,
      'dev',
      '--media',
      'livekit',
      '--without',
      'stt-live,stt-post',
    ]);
    dev.child.kill('SIGTERM');
    const again = setInterval(() => dev.child.kill('SIGTERM'), 20);
    await dev.areAllGone();
    clearInterval(again);
  });
});
