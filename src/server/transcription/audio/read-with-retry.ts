import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FileLocation, RecordingFiles } from '../../recordings/files/recording-files.ts';

/** Pauses between attempts. Together they are longer than a restart of the object storage. */
const PAUSES_MS = [1000, 2000, 4000, 8000] as const;
/** When a chunk takes longer than this the connection is replaced. */
const STALL_MS = 30_000;

export type ReadDeps = { readonly files: Pick<RecordingFiles, 'read'>; readonly clock: Clock };

export type ReadRequest = {
  readonly location: FileLocation;
  readonly start: number;
  readonly end: number;
  readonly signal: AbortSignal;
};

/**
 * Reads the bytes from `start` up to `end`. A connection that breaks or stalls is replaced at the position it reached.
 * After four attempts in a row without a byte, the storage's own error is thrown.
 */
export async function* readWithRetry(deps: ReadDeps, request: ReadRequest): AsyncGenerator<Buffer> {
  let at = request.start;
  let failures = 0;
  while (at < request.end) {
    try {
      for await (const piece of readOnce(deps, { ...request, start: at })) {
        at += piece.length;
        failures = 0;
        yield piece;
      }
      if (at < request.end) throw brokenOff();
    } catch (error) {
      request.signal.throwIfAborted();
      const pause = PAUSES_MS[failures];
      if (pause === undefined || !mayPass(error)) throw error;
      failures += 1;
      await deps.clock.sleep(pause, request.signal);
    }
  }
}

async function* readOnce({ files, clock }: ReadDeps, request: ReadRequest): AsyncGenerator<Buffer> {
  const { location, start, end, signal } = request;
  const stream = await files.read(location, start, end - start);
  const pieces = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await withTimeout(clock, pieces.next(), signal);
      if (next.done === true) return;
      yield Buffer.from(next.value as Uint8Array);
    }
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : brokenOff(cause);
  } finally {
    // The iterator's return() would wait for a read that may never end.
    (stream as { destroy?: () => void }).destroy?.();
  }
}

async function withTimeout<T>(clock: Clock, work: Promise<T>, signal: AbortSignal): Promise<T> {
  const timer = new AbortController();
  const stalled = clock.sleep(STALL_MS, AbortSignal.any([signal, timer.signal])).then(() => {
    throw brokenOff();
  });
  // The loser of the race may reject later, when nobody handles it.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, stalled]);
  } finally {
    stalled.catch(() => undefined);
    timer.abort();
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof ServiceError && error.retryable;
}

function brokenOff(cause?: unknown): ServiceError {
  return new ServiceError('storage-unavailable', 'Reading the recording broke off.', {
    retryable: true,
    cause,
  });
}
