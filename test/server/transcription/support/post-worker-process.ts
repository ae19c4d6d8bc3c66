import { loadConfig } from '../../../../src/server/app/config/config.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import { createLog } from '../../../../src/server/platform/pino-log.ts';
import { startWorker } from '../../../../src/server/worker.ts';
import { testSpeech } from '../../../support/test-speech.ts';

/*
 * Runs a worker of recordings in its own process, with the tests' speech engine: `node post-worker-process.ts PAUSE_MS`.
 * Each recognition takes that long. It prints "ready" and runs until it is stopped or killed.
 */
const pauseMs = Number(process.argv[2]);
const speech = testSpeech({
  recognise: async ({ seconds }) => {
    await systemClock.sleep(pauseMs);
    return `${seconds.toFixed(1)} seconds`;
  },
});
const worker = await startWorker(loadConfig(process.env), {
  kind: 'stt-post',
  speech,
  log: createLog('warn'),
  clock: systemClock,
  ids: systemIds,
});
process.stdout.write('ready\n');
process.once('SIGTERM', () => worker.close());
