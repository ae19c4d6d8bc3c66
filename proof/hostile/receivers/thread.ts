import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { startRawServer } from '../raw-server.ts';
import { RECEIVERS } from './behaviours.ts';

export type HostileServers = {
  /** The addresses of the servers of each kind. */
  readonly urls: ReadonlyMap<string, readonly string[]>;
  /** How many requests a redirect has led to another server. */
  readonly countElsewhere: () => Promise<number>;
  readonly close: () => Promise<unknown>;
};

const MARK = 'hostile receivers';

/** Starts so many receivers of each kind on a thread of their own, so that they do not delay what is measured. */
export async function startHostileServers(ofEach: number): Promise<HostileServers> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { mark: MARK, ofEach } });
  const [urls] = await once(worker, 'message');
  return {
    urls,
    countElsewhere: async () => {
      worker.postMessage('count');
      const [count] = await once(worker, 'message');
      return count;
    },
    close: () => worker.terminate(),
  };
}

async function serve(ofEach: number, port: NonNullable<typeof parentPort>): Promise<void> {
  const elsewhere = await startRawServer((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  );
  const urls = new Map<string, readonly string[]>();
  for (const [name, { behave }] of Object.entries(RECEIVERS)) {
    const servers = Array.from({ length: ofEach }, () =>
      startRawServer((socket, head) => behave(socket, elsewhere.url, head)),
    );
    urls.set(
      name,
      (await Promise.all(servers)).map(({ url }) => url),
    );
  }
  port.on('message', () => port.postMessage(elsewhere.heads.length));
  port.postMessage(urls);
}

if (!isMainThread && parentPort !== null && workerData?.mark === MARK)
  await serve(workerData.ofEach, parentPort);
