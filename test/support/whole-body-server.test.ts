import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createWholeBodyServer } from './whole-body-server.ts';

const servers: { close(): unknown; closeAllConnections(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

it('the whole-body server leaves out a request whose sender disconnects before its body is complete', async () => {
  const bodies: string[] = [];
  const server = createWholeBodyServer((_request, response, body) => {
    bodies.push(body);
    response.end();
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const broken = connect(port, '127.0.0.1');
  broken.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
  const [request] = await once(server, 'request');
  broken.destroy();
  await new Promise((resolve) => request.once('close', resolve));
  await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'whole' });

  expect(bodies).toEqual(['whole']);
});
