import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  limitConnections,
  limitPipelining,
} from '../../../../../src/server/platform/http/limits/connections.ts';

const MAX_OPEN = 3;

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function listen(handle: RequestListener, maxSilent = MAX_OPEN): Promise<Server> {
  const server = createServer(handle);
  limitConnections(server, { maxOpen: MAX_OPEN, maxSilent, connections: limitPipelining(server) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/** Returns a connection that the server has accepted. */
async function open(server: Server): Promise<Socket> {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  const accepted = once(server, 'connection');
  const socket = connect({ host: '127.0.0.1', port: address.port });
  socket.on('error', () => socket.destroy());
  cleanUps.push(() => socket.destroy());
  await Promise.all([once(socket, 'connect'), accepted]);
  return socket;
}

async function openMany(server: Server, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) sockets.push(await open(server));
  return sockets;
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function askOn(socket: Socket): Promise<string> {
  socket.write(REQUEST);
  const [chunk] = await once(socket, 'data');
  return String(chunk);
}

/** Resolves when the server has closed the connection. */
async function findEnd(socket: Socket | undefined): Promise<void> {
  if (socket === undefined) throw new Error('there is no such connection');
  await once(socket.resume(), 'close');
}

const areOpen = (sockets: readonly Socket[]): readonly boolean[] =>
  sockets.map((socket) => !socket.destroyed && !socket.readableEnded);

describe('too many connections', () => {
  it('close the oldest one that has sent nothing, and the newest is served', async () => {
    const server = await listen((_request, response) => response.end('served'));
    const [oldest, ...others] = await openMany(server, MAX_OPEN);
    const closed = findEnd(oldest);
    const newest = await open(server);
    await closed;
    expect(await askOn(newest)).toContain('served');
    expect(areOpen(others)).toEqual([true, true]);
  });

  it('close the oldest of too many that have sent nothing, and none that was served', async () => {
    const server = await listen((_request, response) => response.end('served'), 1);
    const served = await open(server);
    await askOn(served);
    const silent = await open(server);
    const closed = findEnd(silent);
    const newest = await open(server);
    await closed;
    expect(await askOn(newest)).toContain('served');
    expect(await askOn(served)).toContain('served');
  });

  it('close one with half of its headers too, before one that was served', async () => {
    const server = await listen((_request, response) => response.end('served'));
    const [served, slow] = [await open(server), await open(server)];
    await askOn(served);
    slow.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const closed = findEnd(slow);
    await openMany(server, MAX_OPEN - 1);
    await closed;
    expect(await askOn(served)).toContain('served');
  });

  it('close none that is being served, and the oldest idle one instead', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const server = await listen(async (request, response) => {
      if (request.url === '/slow') await released;
      response.end('served');
    });
    const busy = await open(server);
    const requested = once(server, 'request');
    busy.write(REQUEST.replace('/ ', '/slow '));
    await requested;
    const idle = await openMany(server, MAX_OPEN - 1);
    for (const socket of idle) await askOn(socket);
    const closed = findEnd(idle[0]);
    const newest = await open(server);
    await closed;
    expect(await askOn(newest)).toContain('served');
    const answered = once(busy, 'data');
    release();
    expect(String(await answered)).toContain('served');
  });

  it('close one whose response is not read, where all are being served', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const server = await listen(async (request, response) => {
      if (request.url === '/large') {
        response.end(Buffer.alloc(64 * 1024 * 1024));
        return;
      }
      await released;
      response.end('served');
    });
    const askFor = async (socket: Socket, path: string): Promise<void> => {
      const asked = once(server, 'request');
      socket.write(REQUEST.replace('/ ', `${path} `));
      await asked;
    };
    const waiting = await open(server);
    await askFor(waiting, '/');
    const unread = await open(server);
    unread.pause();
    await askFor(unread, '/large');
    const others = await openMany(server, MAX_OPEN - 2);
    for (const socket of others) await askFor(socket, '/');
    const newest = await open(server);
    newest.write(REQUEST);
    const closed = findEnd(unread);
    release();
    for (const socket of [waiting, ...others, newest])
      expect(String(await once(socket, 'data'))).toContain('served');
    await closed;
    expect(unread.bytesRead).toBeLessThan(64 * 1024 * 1024);
  });

  it('close none while all of them are being served', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const server = await listen(async (_request, response) => {
      await released;
      response.end('served');
    });
    const sockets = await openMany(server, MAX_OPEN);
    for (const socket of sockets) {
      const requested = once(server, 'request');
      socket.write(REQUEST);
      await requested;
    }
    const newest = await open(server);
    const responses = [...sockets, newest].map(async (socket) => String(await once(socket, 'data')));
    newest.write(REQUEST);
    release();
    for (const response of await Promise.all(responses)) expect(response).toContain('served');
  });
});

describe('requests on many connections at once', () => {
  it('are started 8 in a turn of the event loop, so that new connections are accepted meanwhile', async () => {
    let turn = 0;
    const startedIn = new Map<number, number>();
    const server = createServer((_request, response) => {
      startedIn.set(turn, (startedIn.get(turn) ?? 0) + 1);
      response.end();
    });
    limitPipelining(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUps.push(() => server.close());
    const sockets = await openMany(server, 32);
    const answers = Promise.all(sockets.map((socket) => once(socket, 'data')));
    const counting = setImmediate(function count() {
      turn += 1;
      pending = setImmediate(count);
    });
    let pending = counting;
    cleanUps.push(() => clearImmediate(pending));
    for (const socket of sockets) socket.write(REQUEST);
    await answers;
    expect([...startedIn.values()].reduce((sum, count) => sum + count)).toBe(32);
    expect(Math.max(...startedIn.values())).toBeLessThanOrEqual(8);
  });
});
