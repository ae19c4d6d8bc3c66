import { serve } from '../../../../src/server/main.ts';

/* The whole service in a process of its own, by the settings in its environment, until SIGTERM. */
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await serve({ check: false, host: undefined, port: undefined, signal: stop.signal });
