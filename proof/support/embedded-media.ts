import { randomBytes } from 'node:crypto';
import { startEmbeddedMediaServer } from '../../src/server/media-simulator/embedded-media-server.ts';
import type { EmbeddedMediaSettings } from '../../src/server/media-simulator/settings.ts';
import { systemClock, systemIds } from '../../src/server/platform/clock.ts';
import type { Cleaning } from '../experiment.ts';
import { MEDIA_KEY } from './callers.ts';

/** Starts an embedded media server with keys of its own, on a free port. It ends with the experiment. */
export async function startEmbeddedMedia({ cleanUp }: Cleaning, settings: Partial<EmbeddedMediaSettings>) {
  const keys = { apiKey: MEDIA_KEY, apiSecret: randomBytes(24).toString('hex') };
  const own = { host: '127.0.0.1', port: 0, ...keys, clock: systemClock, ids: systemIds };
  const media = cleanUp(await startEmbeddedMediaServer({ ...own, ...settings }));
  /** What `mediaServerSettings` needs of a media server; with a gate before it, at the address of the gate. */
  const at = (url: string) => ({ ...keys, url: url.replace('http', 'ws') });
  return { media, at };
}
