import { writeSync } from 'node:fs';
import { pino } from 'pino';
import { ServiceError } from '../../contract/errors.ts';
import type { Log, LogFields } from './log.ts';

const STANDARD_ERROR = 2;
/**
 * Bytes of a batch. Lines are written in batches, because a write for each request is a large part of the cost of a short
 * request.
 */
const BATCH_LENGTH = 32_768;
const WRITE_EVERY_MS = 200;
/** Longer than a batch, so that the destination writes only on request. */
const BATCH_BYTES = 4 * BATCH_LENGTH;
/** Memory for lines that the reader of the log has not taken yet. Further batches are dropped and counted. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
/** Time that an ending process waits for a slow reader. */
const EXIT_TIMEOUT_MS = 2000;
/** Pause between two attempts of an ending process to write. */
const RETRY_PAUSE_MS = 10;

/** The program that wrote a line: several instances, and several versions during an upgrade, may share a log. */
export type LogProgram = { readonly version?: string; readonly instance?: string };

/**
 * Logs one JSON object per line to standard error; standard output belongs to the command line. Buffered lines are written
 * when the process ends, also after an uncaught exception. A reader that stalls costs lines, not memory: the next line that
 * is written has the number of dropped lines.
 */
export function createLog(level: string, program: LogProgram = {}): Log {
  const writer = createBatchWriter();
  const formatters = { level: (label: string) => ({ level: label }) };
  const base = { service: 'rtc-service', ...program };
  const serializers = { err: plainError };
  const timestamp = isoTime();
  const log = pino({ level, base, timestamp, formatters, serializers }, { write: writer.write });
  writer.onRecovery((dropped) =>
    log.warn({ dropped }, 'log lines were dropped, because the reader of the log is too slow'),
  );
  setInterval(writer.send, WRITE_EVERY_MS).unref();
  // Pino's own exit listener waits for a slow reader without a limit, so this one must run before it.
  process.prependListener('exit', writer.writeRest);
  const begin = JSON.stringify(base).slice(1, -1);
  const info = (fields: LogFields, message: string): void => {
    const text = fields.err === undefined ? stringify(fields) : undefined;
    if (text === undefined) {
      log.info(fields, message);
      return;
    }
    const members = text === '{}' ? '' : `,${text.slice(1, -1)}`;
    writer.write(`{"level":"info"${timestamp()},${begin}${members},"msg":${JSON.stringify(message)}}\n`);
  };
  // Pino joins each line of some forty pieces of text, which takes a large part of the cost of a short request.
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: log.isLevelEnabled('info') ? info : () => undefined,
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  };
}

/** Returns undefined for fields that only pino can write, such as those with a cycle. */
function stringify(fields: LogFields): string | undefined {
  try {
    return JSON.stringify(fields);
  } catch {
    return undefined;
  }
}

function createBatchWriter() {
  // The getter opens a pipe as non-blocking. A blocking write would occupy a thread for as long as the reader stalls.
  void process.stderr;
  let isFailing = false;
  let dropped = 0;
  let exitDeadline = Number.POSITIVE_INFINITY;
  let reportDropped = (_count: number): void => {};
  let destination = openDestination();
  function openDestination() {
    const opened = pino.destination({
      dest: STANDARD_ERROR,
      sync: false,
      minLength: BATCH_BYTES,
      maxWrite: 2 * BATCH_BYTES,
      maxLength: MAX_BUFFERED_BYTES,
      retryEAGAIN: () => performance.now() < exitDeadline,
    });
    opened.on('write', () => {
      isFailing = false;
    });
    opened.on('drop', (batch: string) => {
      dropped += batch.split('\n').length - 1;
    });
    opened.on('drain', () => {
      if (dropped === 0) return;
      const count = dropped;
      dropped = 0;
      reportDropped(count);
    });
    // After an error such as a full disk the buffered lines are lost and a new destination continues. EPIPE means that
    // the reader is gone, so the log stays silent.
    opened.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || opened !== destination) return;
      isFailing = true;
      opened.destroy();
      destination = openDestination();
    });
    return opened;
  }
  // The destination measures its whole buffer with every write, so it gets complete batches.
  let batch = '';
  const send = (): void => {
    if (batch !== '') destination.write(batch);
    batch = '';
    destination.flush();
  };
  return {
    send,
    write: (line: string): void => {
      batch += line;
      if (batch.length >= BATCH_LENGTH) send();
    },
    onRecovery: (report: (count: number) => void): void => {
      reportDropped = report;
    },
    writeRest: (): void => {
      exitDeadline = performance.now() + EXIT_TIMEOUT_MS;
      try {
        // A background write that has begun may never finish in an ending process, so it is repeated synchronously. After an
        // error this would retry forever.
        if (!isFailing) destination.flushSync();
      } catch {
        // The reader has not taken the lines in time. Pino would try again, unless the destination is destroyed.
        destination.destroy();
      }
      writeUntil(exitDeadline, batch);
    },
  };
}

/** Writes synchronously. Gives up at the deadline, and on any error but a full pipe. */
function writeUntil(deadline: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(STANDARD_ERROR, rest));
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
      if (!isFull || performance.now() >= deadline) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_PAUSE_MS);
    }
  }
}

/** Logs expected errors with code and message only. Their message includes the causes, and a stack helps nobody. */
function plainError(error: Error) {
  const all = pino.stdSerializers.err(error);
  if (!(error instanceof ServiceError) || error.code === 'internal-error') return all;
  // Pino puts a colon and the cause after the message, which is a sentence.
  return { code: error.code, message: all.message.replaceAll('.: ', ': ') };
}

/** Pino's own isoTime, formatted once per millisecond, because a busy service logs several lines in it. */
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
