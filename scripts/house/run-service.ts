/** The service from its sources, for idle-service.ts. */
import { serve } from '../../src/server/main.ts';

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await serve({ check: false, host: undefined, port: undefined, signal: stop.signal });
