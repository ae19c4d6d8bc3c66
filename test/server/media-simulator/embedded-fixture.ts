import { randomBytes } from 'node:crypto';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import type { EmbeddedMediaSettings } from '../../../src/server/media-simulator/settings.ts';
import { systemIds } from '../../../src/server/platform/clock.ts';
import {
  createLivekitMediaServer,
  type LivekitMediaServerSettings,
} from '../../../src/server/platform/livekit/livekit-media-server.ts';
import type { MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import type { JoinOptions, MediaServerFixture } from '../platform/livekit/media-server-contract.ts';
import { startWebhookInbox } from '../platform/livekit/webhook-inbox.ts';
import { fastClock } from './clocks.ts';

export type EmbeddedFixture = MediaServerFixture & {
  readonly embedded: EmbeddedMediaServer;
  readonly keys: { readonly apiKey: string; readonly apiSecret: string };
  readonly withTimeouts: (timeouts: LivekitMediaServerSettings['timeouts']) => MediaServer;
};

/** Fast enough for the tests, and slow enough that HTTP on loopback takes hardly any of its time. */
const SPEED = 20;

/** Starts the embedded server behind the same adapter, with simulated participants. */
export async function startEmbeddedFixture(
  settings: Partial<EmbeddedMediaSettings> = {},
): Promise<EmbeddedFixture> {
  const keys = { apiKey: 'contract', apiSecret: randomBytes(24).toString('hex') };
  const inbox = await startWebhookInbox(keys);
  const embedded = await startEmbeddedMediaServer({
    host: '127.0.0.1',
    port: 0,
    ...keys,
    clock: fastClock(SPEED),
    ids: systemIds,
    webhookUrls: [inbox.url],
    ingressUrls: { rtmp: 'rtmp://127.0.0.1:1935/live' },
    ...settings,
  });
  const withKeys = (changed: Partial<typeof keys>) =>
    createLivekitMediaServer({ url: embedded.url, ...keys, ...changed });

  const join = async (
    room: string,
    identity: string,
    { hidden = false, attributes = {} }: JoinOptions = {},
  ) => {
    embedded.control.join(room, { identity, name: identity, hidden, attributes });
    return {
      publish: async () => embedded.control.publish(room, identity).sid,
      leave: async () => {
        embedded.control.leave(room, identity);
      },
    };
  };

  return {
    server: withKeys({}),
    withKeys,
    join,
    withTimeouts: (timeouts) =>
      createLivekitMediaServer({ url: embedded.url, ...keys, ...(timeouts !== undefined && { timeouts }) }),
    inbox,
    embedded,
    keys,
    close: async () => {
      await embedded.close();
      await inbox.close();
    },
  };
}
