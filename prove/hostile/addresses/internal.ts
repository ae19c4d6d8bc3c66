import { once } from 'node:events';
import { createServer } from 'node:http';

/** What must not be reached: a server on every loopback address. On one of them it stands for a public server. */
export type Internal = {
  readonly port: number;
  /** Where forbidden requests arrived. */
  readonly reached: readonly string[];
  /** Paths of requests to the public one. */
  readonly allowed: readonly string[];
  readonly close: () => Promise<void>;
};

export async function startInternal(publicAddress: string): Promise<Internal> {
  const reached: string[] = [];
  const allowed: string[] = [];
  const server = createServer((request, response) => {
    const address = request.socket.localAddress?.replace('::ffff:', '') ?? '';
    (address === publicAddress ? allowed : reached).push(`${address}${request.url}`);
    const location = `http://127.0.0.1:${request.socket.localPort}/redirected`;
    const headers = { connection: 'close', location };
    response.writeHead(request.url === '/redirect' ? 307 : 500, headers).end();
  });
  server.listen({ host: '::', port: 0, ipv6Only: false });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    port: address.port,
    reached,
    allowed,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
