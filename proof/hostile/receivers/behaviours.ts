import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { type Behaviour, send, startRawServer, thenDrip, thenFlood } from '../raw-server.ts';

/** A receiver, and the expected entry of an attempt in the delivery log. */
export type HostileReceiver = {
  readonly behave: Behaviour;
  /** The status that was received; null where there was none. */
  readonly statusCode: number | null;
  /** Whether the attempt counts as delivered. */
  readonly isDelivered: boolean;
};

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

const fails = (behave: Behaviour, statusCode: number | null = null): HostileReceiver => ({
  ...{ behave, statusCode },
  isDelivered: false,
});

const takes = (behave: Behaviour): HostileReceiver => ({ behave, statusCode: 200, isDelivered: true });

const redirect = (status: number): HostileReceiver =>
  fails(
    (socket, elsewhere) =>
      socket.write(`HTTP/1.1 ${status} Moved\r\nLocation: ${elsewhere}/stolen\r\nContent-Length: 0\r\n\r\n`),
    status,
  );

const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024));

/** All hostile receivers of webhooks, by the names of their behaviours. */
export const RECEIVERS: Readonly<Record<string, HostileReceiver>> = {
  'never answers': fails(() => {}),
  'answers a byte of a header at a time': fails(thenDrip(`${OK}X-Slow: `, 'x')),
  'answers a byte of the body at a time': fails(thenDrip(`${OK}\r\n`, 'x'), 200),
  'answers empty lines, one at a time': fails(thenDrip('', '\r\n')),
  'answers a chunk at a time': fails(thenDrip(CHUNKED, '1\r\nx\r\n'), 200),
  'answers endless headers': fails(thenFlood(OK, 'X-Header: x\r\n')),
  'answers an endless header': fails(thenFlood(`${OK}X-Header: `, 'x')),
  'answers an endless body': takes(thenFlood(`${OK}\r\n`, 'x')),
  'answers an endless body in chunks': takes(thenFlood(CHUNKED, '5\r\nxxxxx\r\n')),
  'answers an endless extension of a chunk': fails(thenFlood(`${CHUNKED}5;`, 'x'), 200),
  'answers endless empty lines': fails(thenFlood('', '\r\n')),
  'answers endless trailers': fails(thenFlood(`${CHUNKED}0\r\n`, 'X-Trailer: x\r\n'), 200),
  'answers a gzip bomb': takes((socket) => {
    socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
    socket.write(bomb);
  }),
  'announces a huge body': fails(send(`${OK}Content-Length: 900719925474099\r\n\r\nx`), 200),
  'answers 100 for ever': fails(thenFlood('', 'HTTP/1.1 100 Continue\r\n\r\n')),
  'answers 103 for ever': fails(thenFlood('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')),
  'switches protocols': fails(
    send('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  ),
  'answers no HTTP': fails(send('SSH-2.0-OpenSSH_9.9\r\n')),
  'answers two lengths': fails(send(`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nxx`)),
  'answers broken chunks': fails(send(`${CHUNKED}zz\r\n`), 200),
  'resets the connection': fails((socket) => socket.resetAndDestroy()),
  'resets it within the answer': fails(
    (socket) => socket.write(`${OK}Content-Length: 9\r\n\r\nx`, () => socket.resetAndDestroy()),
    200,
  ),
  'closes without an answer': fails((socket) => socket.end()),
  'closes within the answer': fails((socket) => socket.end(`${OK}Content-Length: 9\r\n\r\nx`), 200),
  'promises to keep the connection, and resets it': takes((socket) =>
    socket.write(`${OK}Connection: keep-alive\r\nContent-Length: 0\r\n\r\n`, () =>
      setImmediate(() => socket.resetAndDestroy()),
    ),
  ),
  'answers twice': takes(send(`${OK}Content-Length: 0\r\n\r\n`.repeat(2))),
  'answers with an escape in the body': takes(send(`${OK}Content-Length: 5\r\n\r\n\u001b[2J\0`)),
  'redirects (301)': redirect(301),
  'redirects (302)': redirect(302),
  'redirects (307)': redirect(307),
  'redirects (308)': redirect(308),
};

const MARK = 'hostile receivers';

/** Starts so many receivers of each kind on a thread of their own, so that they do not delay what is measured. */
export async function startHostileServers(ofEach: number) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { mark: MARK, ofEach } });
  const [urls] = await once(worker, 'message');
  return {
    /** The addresses of the servers of each kind. */
    urls: urls as ReadonlyMap<string, readonly string[]>,
    /** How many requests a redirect has led to another server. */
    countElsewhere: async (): Promise<number> => {
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
