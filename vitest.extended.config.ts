import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** `npm run test:extended`: what takes too long for every commit, such as tours in a real browser. */
export default defineConfig(
  mergeConfig(
    { ...base, test: { ...base.test, include: [] } },
    {
      test: {
        // Live transcription runs here once more: a machine that does nothing else has to hear every word.
        include: ['test/**/*.extended.ts', 'test/server/transcription/live/{live,live-workers}.test.ts'],
        env: { MEASURE_ACCURACY: '1' },
        testTimeout: 180_000,
        maxWorkers: 1,
        // The planted faults spend their minutes waiting, all at once.
        maxConcurrency: 8,
      },
    },
  ),
);
