import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * The receiver of the webhook bench, in its own process. It responds with 200 immediately. It sends its port to its parent.
 * On a message, it sends how many requests arrived and when each event arrived (performance.timeOrigin + now, in
 * milliseconds).
 */
let count = 0;
const arrivals: Record<string, number> = {};
let isKeeping = false;

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    count += 1;
    if (isKeeping) {
      const { room } = JSON.parse(Buffer.concat(chunks).toString()) as { room: { name: string } };
      arrivals[room.name] ??= at;
    }
    response.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 1024);
await once(server, 'listening');
process.send?.({ port: (server.address() as AddressInfo).port });
process.on('message', (message: { readonly keepsArrivals: boolean }) => {
  isKeeping = message.keepsArrivals;
  process.send?.({ count, arrivals });
});
process.on('disconnect', () => process.exit());
