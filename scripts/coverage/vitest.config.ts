import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** Runs the tests on Node's own loader. It keeps the offsets of the source, which Vite's transformation does not. */
export default defineConfig(
  mergeConfig(base, {
    root: `${import.meta.dirname}/../..`,
    test: { experimental: { viteModuleRunner: false }, setupFiles: ['scripts/coverage/take-coverage.ts'] },
  }),
);
