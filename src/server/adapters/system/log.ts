import { pino } from 'pino';
import type { Log } from '../../ports/log.ts';

/** One JSON object a line on standard error; standard output belongs to the command line. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: { service: 'rtc-service' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
