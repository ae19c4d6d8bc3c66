import { pino } from 'pino';
import { ServiceError } from '../../../contract/errors.ts';
import type { Log } from '../../ports/log.ts';

/** Lines are written together: a write per request would cost a good part of a short one. */
const BATCH_LENGTH = 32_768;
const WRITE_EVERY_MS = 200;
/** More than a batch has bytes, so that the destination begins to write when it is told to and not before. */
const BATCH_BYTES = 4 * BATCH_LENGTH;

/**
 * One JSON object a line on standard error; standard output belongs to the command line. What is buffered is
 * written when the process ends, also by an exception that nobody caught; only a kill loses the last moment.
 */
export function createLog(level: string): Log {
  const sizes = { minLength: BATCH_BYTES, maxWrite: 2 * BATCH_BYTES };
  const destination = pino.destination({ dest: 2, sync: false, ...sizes });
  // The destination measures all that it holds anew with every line, so it is handed whole batches.
  let batch = '';
  const hand = (): void => {
    destination.write(batch);
    batch = '';
  };
  const send = (): void => {
    if (batch !== '') hand();
    destination.flush();
  };
  const write = (line: string): void => {
    batch += line;
    if (batch.length >= BATCH_LENGTH) send();
  };
  setInterval(send, WRITE_EVERY_MS).unref();
  process.on('exit', () => {
    // What an ending process has begun to write in the background may never be written.
    destination.flushSync();
    hand();
    destination.flushSync();
  });
  const formatters = { level: (label: string) => ({ level: label }) };
  const base = { service: 'rtc-service' };
  const serializers = { err: plainError };
  return pino({ level, base, timestamp: isoTime(), formatters, serializers }, { write });
}

/** What is foreseen is told by its code and message, which has its causes; where it was thrown helps nobody. */
function plainError(error: Error) {
  const all = pino.stdSerializers.err(error);
  if (!(error instanceof ServiceError) || error.code === 'internal-error') return all;
  return { code: error.code, message: all.message };
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
