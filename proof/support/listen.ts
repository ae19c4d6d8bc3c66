import { once } from 'node:events';
import type { Server } from 'node:http';
import { readPort } from '../../test/support/forwarding-server.ts';

/** Listens at a free port until it is closed, with its connections. */
export async function listen(server: Server, host = '127.0.0.1') {
  await once(server.listen(0, host), 'listening');
  return {
    port: readPort(server),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
