import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { freePort, runPart, untilReady } from '../support/parts/run-part.ts';

const runPartModule = fileURLToPath(new URL('../support/parts/run-part.ts', import.meta.url));

/** Returns false for a process that has ended or only waits to be reaped, as orphans do for a moment. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** A shell that prints its own process id and that of a child, and then waits for ever. */
const family = 'sleep 1000 & echo "$$ $!"; wait';

describe('a part of the test environment', () => {
  it('ends with everything that it started when the test process is killed', async () => {
    const script = `
      import { runPart, untilReady } from ${JSON.stringify(runPartModule)};
      const part = runPart({ name: 'family', program: 'sh', args: ['-c', ${JSON.stringify(family)}] });
      await untilReady(part, 'family', { isReady: async () => part.output().includes(' ') });
      console.log(part.output());
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string];
    const pids = line.split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    owner.kill('SIGKILL');
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
  });

  it('ends with everything that it started when it is closed', async () => {
    const part = runPart({ name: 'family', program: 'sh', args: ['-c', family] });
    await untilReady(part, 'family', { isReady: async () => part.output().includes(' ') });
    const pids = part.output().split(' ').map(Number);
    await part.close();
    // Its pipes, which tell close() about its end, are closed a moment before the process counts as ended.
    await expect.poll(() => pids.map(isRunning), { interval: 1, timeout: 1_000 }).toEqual([false, false]);
  });

  it('is killed when it does not end on request', async () => {
    const stubborn = 'trap "" TERM; echo ready; while :; do sleep 1; done';
    const part = runPart({ name: 'stubborn', program: 'sh', args: ['-c', stubborn] });
    await untilReady(part, 'stubborn', { isReady: async () => part.output().includes('ready') });
    await part.close();
    expect(await part.exited).not.toBe(0);
  }, 120_000);

  it('that ends before it is ready has its output in the error', async () => {
    const part = runPart({ name: 'broken', program: 'sh', args: ['-c', 'echo no such setting >&2; exit 3'] });
    const ready = untilReady(part, 'broken', { isReady: async () => false });
    await expect(ready).rejects.toThrow('broken ended with status 3:\nno such setting');
  });

  it('that is not ready in time is ended', async () => {
    const part = runPart({ name: 'slow', program: 'sleep', args: ['1000'] });
    const ready = untilReady(part, 'slow', { isReady: async () => false, deadlineMs: 50 });
    await expect(ready).rejects.toThrow('slow is not ready after 50 ms');
    expect(await part.exited).not.toBe(0);
  });

  it('gets a port on which nobody listens', async () => {
    const port = await freePort();
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
  });
});
