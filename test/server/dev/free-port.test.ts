import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { holdFreePort, nextFreePort } from '../../../src/server/dev/free-port.ts';
import { freePort } from '../../support/parts/run-part.ts';

const HOST = '127.0.0.1';

it('two callers that want a port at the same moment get different ones until the first releases its own', async () => {
  const wanted = await freePort();
  const [first, second] = await Promise.all([holdFreePort(wanted, HOST), holdFreePort(wanted, HOST)]);
  expect(new Set([first.port, second.port]).size).toBe(2);
  expect(await nextFreePort(first.port, HOST)).toBeGreaterThan(first.port);
  await first.release();
  expect(await nextFreePort(first.port, HOST)).toBe(first.port);
  await first.release();
  await second.release();
});

it('a connection to a held port is closed', async () => {
  const held = await holdFreePort(await freePort(), HOST);
  const socket = connect(held.port, HOST);
  socket.resume();
  await once(socket, 'close');
  await held.release();
  const server = createServer().listen(held.port, HOST);
  await once(server, 'listening');
  server.close();
});
