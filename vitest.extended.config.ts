import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** `npm run test:extended`: what takes too long for every commit, such as tours in a real browser. */
export default defineConfig(
  mergeConfig(
    { ...base, test: { ...base.test, include: [] } },
    { test: { include: ['test/**/*.extended.ts'], testTimeout: 180_000, maxWorkers: 1 } },
  ),
);
