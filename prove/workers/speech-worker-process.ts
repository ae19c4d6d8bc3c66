import { runWorker } from '../../src/server/worker.ts';

/* Runs `rtc worker stt-post` from the sources, with the service's settings, until it is stopped or killed. */
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
await runWorker({ kind: 'stt-post', signal: ending.signal });
process.exit(0);
