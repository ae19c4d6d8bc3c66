import { writeSync } from 'node:fs';
import { pino } from 'pino';
import { ServiceError } from '../../contract/errors.ts';
import type { Log } from './log.ts';

const STANDARD_ERROR = 2;
/** Lines are written together: a write per request would cost a good part of a short one. */
const BATCH_LENGTH = 32_768;
const WRITE_EVERY_MS = 200;
/** For a reader that is slow, when the process ends. */
const READER_PAUSE_MS = 10;
/** More than a batch has bytes, so that the destination begins to write when it is told to and not before. */
const BATCH_BYTES = 4 * BATCH_LENGTH;

/**
 * One JSON object a line on standard error; standard output belongs to the command line. What is buffered is
 * written when the process ends, also by an exception that nobody caught; only a kill loses the last moment.
 */
export function createLog(level: string): Log {
  let isFailing = false;
  let destination = openDestination();
  function openDestination() {
    const sizes = { minLength: BATCH_BYTES, maxWrite: 2 * BATCH_BYTES };
    const opened = pino.destination({ dest: STANDARD_ERROR, sync: false, ...sizes });
    opened.on('write', () => {
      isFailing = false;
    });
    // A full disk: what it holds is lost, and the service goes on. Where nobody reads any more, it has fallen silent.
    opened.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || opened !== destination) return;
      isFailing = true;
      opened.destroy();
      destination = openDestination();
    });
    return opened;
  }
  // The destination measures all that it holds anew with every line, so it is handed whole batches.
  let batch = '';
  const send = (): void => {
    if (batch !== '') destination.write(batch);
    batch = '';
    destination.flush();
  };
  const write = (line: string): void => {
    batch += line;
    if (batch.length >= BATCH_LENGTH) send();
  };
  setInterval(send, WRITE_EVERY_MS).unref();
  process.on('exit', () => {
    // What an ending process has begun to write in the background may never be written. But where it cannot be, this
    // would try for ever.
    if (!isFailing) destination.flushSync();
    writeWhole(batch);
  });
  const formatters = { level: (label: string) => ({ level: label }) };
  const base = { service: 'rtc-service' };
  const serializers = { err: plainError };
  return pino({ level, base, timestamp: isoTime(), formatters, serializers }, { write });
}

/** At once; gives up where it is not for a slow reader that it cannot be written. */
function writeWhole(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STANDARD_ERROR, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, READER_PAUSE_MS);
    }
  }
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
