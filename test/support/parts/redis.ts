import { connect } from 'node:net';
import { freePort, runPart, untilReady, withFreshPorts } from './run-part.ts';

export interface Redis {
  /** redis://127.0.0.1:PORT, with the password if it has one, reachable from this machine only. */
  readonly url: string;
  /** HOST:PORT, as the media server and the ingress service want it. */
  readonly address: string;
  close(): Promise<void>;
  /** Ends it as a crash does; what it held is gone. */
  kill(): Promise<void>;
}

/**
 * Starts a real redis-server that keeps everything in memory and writes no file; without a password and on a free port
 * by default.
 */
export function startRedis(password = '', ownPort?: number): Promise<Redis> {
  return withFreshPorts(async () => {
    const port = ownPort ?? (await freePort());
    const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    if (password !== '') args.push('--requirepass', password);
    const part = runPart({ name: 'redis-server', program: 'redis-server', args });
    await untilReady(part, 'redis-server', { isReady: () => answersPing(port) });
    const credentials = password === '' ? '' : `:${password}@`;
    return {
      url: `redis://${credentials}127.0.0.1:${port}`,
      address: `127.0.0.1:${port}`,
      close: part.close,
      kill: part.kill,
    };
  });
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('error', reject);
    socket.once('close', () => resolve(false));
    socket.once('data', (answer) => {
      // One with a password answers that it wants it.
      resolve(/^\+PONG|^-NOAUTH/.test(answer.toString()));
      socket.destroy();
    });
  });
}
