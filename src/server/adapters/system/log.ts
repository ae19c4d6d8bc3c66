import { pino } from 'pino';
import type { Log } from '../../ports/log.ts';

/** Lines are written together: a write per request would cost a good part of a short one. */
const BUFFER_BYTES = 4096;
const FLUSH_EVERY_MS = 200;

/**
 * One JSON object a line on standard error; standard output belongs to the command line. What is buffered is
 * written when the process ends, also by an exception that nobody caught; only a kill loses the last moment.
 */
export function createLog(level: string): Log {
  const destination = pino.destination({ dest: 2, sync: false, minLength: BUFFER_BYTES });
  const timer = setInterval(() => destination.flush(), FLUSH_EVERY_MS);
  timer.unref();
  process.on('exit', () => destination.flushSync());
  return pino(
    {
      level,
      base: { service: 'rtc-service' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}
