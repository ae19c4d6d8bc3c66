import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Polling ends when it is so: a busy machine needs longer than a second.
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
  },
});
