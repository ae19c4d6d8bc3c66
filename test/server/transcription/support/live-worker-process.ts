import { createLog } from '../../../../src/server/adapters/system/log.ts';
import { systemClock, systemIds } from '../../../../src/server/adapters/system/system.ts';
import { loadConfig } from '../../../../src/server/config/config.ts';
import { startWorker } from '../../../../src/server/worker.ts';
import { openTestModel } from '../../../support/parts/speech-model.ts';

/*
 * A stt-live worker in a process of its own, on the real model: `node live-worker-process.ts`, with the service's
 * settings. Says "ready", and works until it is told to stop, or killed.
 */
const worker = await startWorker(loadConfig(process.env), {
  kind: 'stt-live',
  speech: openTestModel(),
  log: createLog('warn'),
  clock: systemClock,
  ids: systemIds,
});
process.stdout.write(`ready, pid ${process.pid}\n`);
process.once('SIGTERM', () => void worker.close().then(() => process.exit(0)));
