import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { createEventPoster } from '../../../src/cli/commands/events/forwarder.ts';

it('a host to which no connection is possible in time has not received the event', async () => {
  // A server that never answers the TLS handshake takes as long as a host that drops packets.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const poster = createEventPoster({ userAgent: 'rtc/test' });
  try {
    const event = {
      id: 'evt_1',
      event: 'webhook_test',
      sequence: null,
      timestamp: '2026-01-01T00:00:00.000Z',
    };
    const post = { url, secret: 'secret', event: event as never, nowMs: 0 };
    expect(await poster.post(post, new AbortController().signal)).toMatchObject({ kind: 'down' });
  } finally {
    await poster.close();
    server.close();
  }
});
