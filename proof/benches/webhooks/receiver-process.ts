import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * The receiver of the benches of webhooks, in its own process. It responds with 200 immediately. It sends its port to its
 * parent, and on each message how many requests have arrived.
 */
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
process.send?.({ port: (server.address() as AddressInfo).port });
process.on('message', () => process.send?.(count));
process.on('disconnect', () => process.exit());
