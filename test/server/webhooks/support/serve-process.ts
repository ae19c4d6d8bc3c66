import { serve } from '../../../../src/server/main.ts';

/* Runs the whole service in its own process, with the settings in its environment, until SIGTERM. */
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await serve({ check: false, newKey: false, host: undefined, port: undefined, signal: stop.signal });
