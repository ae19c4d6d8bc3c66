import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { readPort } from '../../test/support/forwarding-server.ts';

/** Sends whatever it wants when the head of a request has arrived. */
export type Behaviour = (socket: Socket, elsewhere: string, head: string) => unknown;

/** A server that speaks only the bytes of its behaviour. */
export async function startRawServer(behave: (socket: Socket, head: string) => unknown) {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      // The beginning of a TLS handshake has no head.
      if (!received.includes('\r\n\r\n') && !received.startsWith('\u0016')) return;
      const head = received;
      heads.push(head);
      received = '';
      behave(socket, head);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${readPort(server)}`,
    /** The heads of the requests that arrived. */
    heads: heads as readonly string[],
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Writes the text again and again, as fast as it is taken, up to the limit. */
function flood(socket: Socket, text: string, limitBytes = 512 * 1024 * 1024): void {
  const chunk = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)), 'latin1');
  let sent = 0;
  const more = (): void => {
    if (socket.destroyed) return;
    sent += chunk.length;
    if (sent > limitBytes) socket.destroy();
    else if (socket.write(chunk)) setImmediate(more);
    else socket.once('drain', more);
  };
  more();
}

const DRIP_MS = 200;

/** Writes the text again and again, slowly, until the other side closes the connection. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text, 'latin1'), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

/** Writes the bytes and leaves the connection open. */
export function send(bytes: string | Buffer): Behaviour {
  return (socket) => socket.write(bytes);
}

/** Writes the beginning, and then the text again and again as fast as it is read. */
export function thenFlood(begin: string, text: string): Behaviour {
  return (socket) => {
    socket.write(begin, 'latin1');
    flood(socket, text);
  };
}

/** Writes the beginning, and then the text again and again, slowly. */
export function thenDrip(begin: string, text: string): Behaviour {
  return (socket) => {
    socket.write(begin, 'latin1');
    drip(socket, text);
  };
}
