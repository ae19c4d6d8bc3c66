import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { readPort } from '../../support/forwarding-server.ts';

/** The reaction of the proxy to a CONNECT: it connects, or sends a text and ends, or does nothing at all. */
export type TunnelBehaviour = 'connect' | 'silence' | { readonly text: string };

export type TunnelProxy = {
  readonly port: number;
  /** The target and the Proxy-Authorization of each CONNECT. */
  readonly connects: readonly { readonly target: string; readonly authorization: string | undefined }[];
  readonly behave: (behaviour: TunnelBehaviour) => void;
  close(): Promise<void>;
};

/** Starts a proxy on 127.0.0.1 that opens tunnels to ports of this machine, whatever the host. */
export async function startTunnelProxy(): Promise<TunnelProxy> {
  let behaviour: TunnelBehaviour = 'connect';
  const connects: { readonly target: string; readonly authorization: string | undefined }[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer();
  server.on('connect', ({ url = '', headers }, client: Duplex) => {
    connects.push({ target: url, authorization: headers['proxy-authorization'] });
    sockets.add(client.on('error', () => undefined));
    if (typeof behaviour === 'object') client.end(behaviour.text);
    else if (behaviour === 'connect') sockets.add(openTunnel(client, Number(url.split(':').at(-1))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: readPort(server),
    connects,
    behave: (next) => {
      behaviour = next;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function openTunnel(client: Duplex, port: number): Socket {
  const target = connect({ host: '127.0.0.1', port });
  target.on('connect', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.pipe(target).pipe(client);
  });
  target.on('error', () => client.destroy());
  return target;
}
