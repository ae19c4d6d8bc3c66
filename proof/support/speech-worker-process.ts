import { runWorker } from '../../src/server/worker.ts';

/* Runs `rtc worker stt-post` or `stt-live` from the sources, with the service's settings, until it is stopped or killed. */
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
const kind = process.argv[2] === 'stt-live' ? 'stt-live' : 'stt-post';
await runWorker({ kind, signal: ending.signal });
process.exit(0);
