import { connect } from 'node:net';
import { freePort, runPart, untilReady, withFreshPorts } from './run-part.ts';

export interface Redis {
  /** redis://127.0.0.1:PORT, with the password if there is one. */
  readonly url: string;
  /** HOST:PORT, the form that the media server and the ingress service need. */
  readonly address: string;
  close(): Promise<void>;
  /** Kills it. Its content is lost. */
  kill(): Promise<void>;
}

/** Starts a real redis-server that keeps everything in memory. Default: no password, and a free port. */
export function startRedis(password = '', ownPort?: number): Promise<Redis> {
  return withFreshPorts(async () => {
    const port = ownPort ?? (await freePort());
    const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    if (password !== '') args.push('--requirepass', password);
    const part = runPart({ name: 'redis-server', program: 'redis-server', args });
    await untilReady(part, 'redis-server', { isReady: () => respondsToPing(port) });
    const credentials = password === '' ? '' : `:${password}@`;
    return {
      url: `redis://${credentials}127.0.0.1:${port}`,
      address: `127.0.0.1:${port}`,
      close: part.close,
      kill: part.kill,
    };
  });
}

function respondsToPing(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('error', reject);
    socket.once('close', () => resolve(false));
    socket.once('data', (response) => {
      // A server with a password responds that it requires it.
      resolve(/^\+PONG|^-NOAUTH/.test(response.toString()));
      socket.destroy();
    });
  });
}
