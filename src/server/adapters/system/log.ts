import { pino } from 'pino';
import type { Log } from '../../ports/log.ts';

/** Lines are written together: a write per request would cost a good part of a short one. */
const BATCH_LENGTH = 16_384;
const FLUSH_EVERY_MS = 200;

/**
 * One JSON object a line on standard error; standard output belongs to the command line. What is buffered is
 * written when the process ends, also by an exception that nobody caught; only a kill loses the last moment.
 */
export function createLog(level: string): Log {
  const destination = pino.destination({ dest: 2, sync: false });
  // The destination measures all that it holds anew with every line, so it is handed whole batches.
  let batch = '';
  const hand = (): void => {
    if (batch === '') return;
    destination.write(batch);
    batch = '';
  };
  const write = (line: string): void => {
    batch += line;
    if (batch.length >= BATCH_LENGTH) hand();
  };
  setInterval(hand, FLUSH_EVERY_MS).unref();
  process.on('exit', () => {
    hand();
    destination.flushSync();
  });
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: { service: 'rtc-service' }, timestamp: isoTime(), formatters }, { write });
}

/** Pino's own isoTime, made once a millisecond: a busy service writes several lines in it. */
function isoTime(): () => string {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== lastMs) {
      lastMs = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}
