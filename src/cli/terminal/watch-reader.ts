import { fstatSync } from 'node:fs';
import type { Io } from './io.ts';

export type ReaderWatch = { readonly close: () => void };

/**
 * Emits EPIPE on stdout as soon as the reader of the pipe is gone: then `rtc events tail | head -1` ends at once, and not at
 * the next event. Node cannot poll an idle pipe, and an empty write succeeds. GNU tail polls the pipe that it writes to, and
 * ends with SIGPIPE; with another tail, or none, the next write notices it.
 */
export async function watchReader({ stdout, env, processId }: Io): Promise<ReaderWatch | undefined> {
  const { fd } = stdout;
  if (fd === undefined || !fstatSync(fd).isFIFO()) return undefined;
  const { spawn } = await import('node:child_process');
  // With --pid it ends with us, also when we are killed: a remaining writer would keep the pipe open.
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
