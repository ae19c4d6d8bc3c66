import { serve } from '../../../../src/server/main.ts';

/* The whole service in a process of its own, by the settings in its environment, until it is killed. */
await serve({
  check: false,
  host: undefined,
  port: undefined,
  signal: new AbortController().signal,
});
