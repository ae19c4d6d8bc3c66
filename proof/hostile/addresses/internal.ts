import { once } from 'node:events';
import { createServer } from 'node:http';

/** A server on every loopback address. One address represents a public server; no other may be reached. */
export type Internal = {
  readonly port: number;
  /** Addresses at which forbidden requests arrived. */
  readonly reached: readonly string[];
  /** Paths of the requests to the public address. */
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
