import { runWorker } from '../../../../src/server/worker.ts';

/*
 * `rtc worker stt-live` without the command line, from the sources: `node live-worker-process.ts`, with the service's
 * settings. Logs "working", and works until it is told to stop, or killed.
 */
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
process.stdout.write(`pid ${process.pid}\n`);
await runWorker({ kind: 'stt-live', signal: ending.signal });
// What is native in the room client keeps a process alive.
process.exit(0);
