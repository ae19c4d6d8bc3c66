import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startMedia } from '../../../src/server/dev/media.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';

it('rtc dev does not build LiveKit without Go, and names what is missing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-dev-media-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const progress: string[] = [];
  const media = await startMedia({
    environment: { PATH: folder, XDG_CACHE_HOME: folder },
    choice: undefined,
    supervisor: { start: () => expect.unreachable() },
    dataDir: folder,
    recordingDir: folder,
    apiKey: 'media-key',
    apiSecret: 'media-secret-of-more-than-32-characters',
    webhookUrl: 'http://127.0.0.1:9/livekit/webhook',
    clock: systemClock,
    ids: systemIds,
    progress: (line) => progress.push(line),
    status: () => undefined,
    signal: new AbortController().signal,
  });
  onTestFinished(() => media.close());
  expect(media.kind).toBe('embedded');
  expect(media.notes).toContain('no livekit-server on PATH, and no Go to build it with');
  expect(progress).toEqual([]);
});
