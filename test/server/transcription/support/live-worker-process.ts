import { runWorker } from '../../../../src/server/worker.ts';

/*
 * Runs `rtc worker stt-live` without the command line, from the sources: `node live-worker-process.ts`, with the service's
 * settings. It logs "working" and runs until it is stopped or killed.
 */
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
process.stdout.write(`pid ${process.pid}\n`);
await runWorker({ kind: 'stt-live', signal: ending.signal });
// The native part of the room client keeps a process alive.
process.exit(0);
