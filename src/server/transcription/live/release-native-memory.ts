import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../platform/clock.ts';
import { startLoop } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';

/** Calls that end within this time share one garbage collection. */
const GATHER_MS = 2_000;

export type MemoryRelease = {
  /** Collects garbage soon. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
};

/**
 * Collects garbage after calls. The streams of a call are small objects that hold megabytes of native memory, of which
 * V8 knows nothing: it would not collect them for hours, and their native libraries free them no other way.
 */
export function startMemoryRelease(deps: { readonly clock: Clock; readonly log: Log }): MemoryRelease {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  const loop = startLoop({
    ...deps,
    failureMessage: 'collecting garbage failed',
    round: async () => {
      if (typeof collect === 'function') collect();
      return undefined;
    },
  });
  return { release: () => loop.wakeWithin(GATHER_MS), close: loop.close };
}
