import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { readPort } from '../../../test/support/forwarding-server.ts';

export type BenchReceiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts a receiver of webhooks in its own process, which runs this file. It responds with 200 immediately. */
export async function startReceiver() {
  const child = fork(import.meta.filename);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}`,
    /** Resolves to the number of requests that have arrived. */
    countArrived: async () => {
      child.send('count');
      const [count] = (await once(child, 'message')) as [number];
      return count;
    },
    close: () => child.disconnect(),
  };
}

/** The process sends its port to its parent, and on each message how many requests have arrived. */
if (import.meta.main) {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1;
      response.end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', 1024);
  await once(server, 'listening');
  process.send?.({ port: readPort(server) });
  process.on('message', () => process.send?.(count));
  process.on('disconnect', () => process.exit());
}
