import type { Log } from '../platform/log.ts';

/** An error after which a process must end, although no signal asked it to. */
export type Failure = {
  readonly report: (error: Error) => void;
  readonly isReported: () => boolean;
  /** Resolves to the first error that was reported. */
  readonly reported: Promise<Error>;
};

export function createFailure(log: Pick<Log, 'error'>): Failure {
  const { promise, resolve } = Promise.withResolvers<Error>();
  let isReported = false;
  return {
    report: (error) => {
      isReported = true;
      log.error({ reason: error.message }, 'stopping, because the database cannot be used any more');
      resolve(error);
    },
    isReported: () => isReported,
    reported: promise,
  };
}

/** Resolves when the signal aborts. Rejects with the failure when that comes first. */
export async function untilEnd(signal: AbortSignal, failed: Promise<Error>): Promise<void> {
  const error = await Promise.race([aborted(signal), failed]);
  if (error !== undefined) throw error;
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
