import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEventPoster } from '../../src/cli/commands/events/forwarder.ts';
import { createWire } from '../../src/cli/connection/connect.ts';
import { RtcClient } from '../../src/client/index.ts';
import { createClients } from '../../src/server/platform/livekit/clients.ts';
import { json, startHttpServer, type TestHttpServer } from '../cli/support/http-server.ts';

let server: TestHttpServer;
beforeEach(async () => {
  server = await startHttpServer((_request, response) => {
    response.writeContinue();
    json(response, 200, { rooms: [] });
  });
});
afterEach(() => server.close());

describe('a server that sends 100 Continue unasked', () => {
  it('gets the events that the command line forwards once, with its response read', async () => {
    const poster = createEventPoster({ userAgent: 'rtc/test' });
    const event = {
      id: 'evt_1',
      event: 'room_created',
      sequence: null,
      timestamp: '2026-01-01T00:00:00.000Z',
      room: { id: 'demo', name: 'demo', metadata: '', numParticipants: 0 },
    } as const;
    const post = { url: new URL(server.url), secret: 'secret', event, nowMs: 0 };
    try {
      const outcome = await poster.post(post, new AbortController().signal);
      expect(outcome).toMatchObject({ kind: 'responded', statusCode: 200 });
      expect(server.received).toHaveLength(1);
    } finally {
      await poster.close();
    }
  });

  it('is read by the command line as a service behind a proxy', async () => {
    const wire = createWire({ apiSecret: 'secret' }, {});
    const client = new RtcClient({ url: server.url, apiKey: 'key', apiSecret: 'secret', ...wire });
    try {
      expect(await client.rooms.list()).toMatchObject({ rooms: [] });
    } finally {
      await client.close();
    }
  });

  it('is read by the service as a media server behind a proxy', async () => {
    const timeouts = { callMs: 5_000, startMs: 5_000 };
    const credentials = { apiKey: 'key', apiSecret: 'secret-of-at-least-32-characters' };
    const clients = createClients({ url: server.url, ...credentials, timeouts, now: () => Date.now() });
    try {
      expect(await clients.listRooms([])).toEqual([]);
    } finally {
      await clients.close();
    }
  });
});
