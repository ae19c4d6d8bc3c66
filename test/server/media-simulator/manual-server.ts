import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import type { EmbeddedMediaSettings } from '../../../src/server/media-simulator/settings.ts';
import { createLivekitMediaServer } from '../../../src/server/platform/livekit/livekit-media-server.ts';
import type { MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import { countingIds, type ManualClock, manualClock } from './clocks.ts';

export type ManualServer = EmbeddedMediaServer & {
  readonly clock: ManualClock;
  readonly server: MediaServer;
};

export const KEYS = { apiKey: 'key', apiSecret: 'a secret of the tests, long enough' };

/** Starts an embedded server whose clock only the test advances. */
export async function startManualServer(
  settings: Partial<EmbeddedMediaSettings> = {},
): Promise<ManualServer> {
  const clock = manualClock();
  const embedded = await startEmbeddedMediaServer({
    host: '127.0.0.1',
    port: 0,
    ...KEYS,
    clock,
    ids: countingIds(),
    ...settings,
  });
  return { ...embedded, clock, server: createLivekitMediaServer({ url: embedded.url, ...KEYS }) };
}
