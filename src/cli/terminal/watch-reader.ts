import { fstatSync } from 'node:fs';
import type { Io } from './io.ts';

export type ReaderWatch = { readonly close: () => void };

/**
 * Emits EPIPE on stdout as soon as the reader of the pipe has gone: `rtc events tail | head -1` ends then, and not at
 * the next event. Node has no way to poll an idle pipe, and a write of nothing succeeds. GNU tail does poll the pipe
 * that it writes to, and ends by SIGPIPE; another tail, or none, ends differently, and the next write finds out.
 */
export async function watchReader({ stdout, env, processId }: Io): Promise<ReaderWatch | undefined> {
  const { fd } = stdout;
  if (fd === undefined || !fstatSync(fd).isFIFO()) return undefined;
  const { spawn } = await import('node:child_process');
  // With --pid it ends with us, also when we are killed: a writer that is left would keep the pipe open.
  const child = spawn('tail', ['-f', '-s', '1', `--pid=${processId}`, '/dev/null'], {
    stdio: ['ignore', fd, 'ignore'],
    env: { PATH: env.PATH },
  });
  child.on('error', () => undefined);
  child.on('exit', (_code, signal) => {
    if (signal !== 'SIGPIPE') return;
    stdout.emit('error', Object.assign(new Error('The reader has closed the pipe.'), { code: 'EPIPE' }));
  });
  return { close: () => child.kill() };
}
