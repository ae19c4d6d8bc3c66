import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadConfig } from '../../src/server/app/config/config.ts';
import { startService } from '../../src/server/app/service.ts';
import { keepGarbageLow } from '../../src/server/main.ts';
import { createTimeOrderedIds } from '../../src/server/platform/clock.ts';
import { createLog } from '../../src/server/platform/pino-log.ts';
import { SkippableClock } from '../../test/support/skippable-clock.ts';

/*
 * Runs the whole service in its own process until SIGTERM, with a clock that begins CLOCK_AHEAD_MS ahead and is moved forward by
 * requests to CLOCK_PORT. There `/alive` tells the bytes that are in use after a collection of garbage.
 */
keepGarbageLow();
const { CLOCK_PORT, CLOCK_AHEAD_MS, ...environment } = process.env;
const clock = new SkippableClock();
clock.skip(Number(CLOCK_AHEAD_MS));
const config = loadConfig(environment);
const parts = { log: createLog(config.values.LOG_LEVEL), clock, ids: createTimeOrderedIds(clock) };
const service = await startService(config, parts);
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const server = createServer((request, response) => {
  if (request.url === '/alive') {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    response.end(`${heapUsed + external}`);
    return;
  }
  clock.skip(Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('ms')));
  response.end();
}).listen(Number(CLOCK_PORT), '127.0.0.1');
process.once('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await service.close();
  process.exit(0);
});
