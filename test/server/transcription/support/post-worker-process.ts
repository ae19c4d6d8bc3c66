import { loadConfig } from '../../../../src/server/app/config/config.ts';
import { createLog } from '../../../../src/server/platform/pino-log.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/system.ts';
import { startWorker } from '../../../../src/server/worker.ts';
import { testSpeech } from '../../../support/test-speech.ts';

/*
 * A stt-post worker in a process of its own, with the test's speech engine: `node post-worker-process.ts PAUSE_MS`.
 * Each recognition takes so long. Says "ready", and works until it is told to stop, or killed.
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
