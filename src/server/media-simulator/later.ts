import type { World } from './settings.ts';

/**
 * Does `work` after `ms`; not at all when `signal` or the server's closing comes first. What `work` throws is
 * logged: nobody waits for it.
 */
export function later(
  { clock, closing, log }: Pick<World, 'clock' | 'closing' | 'log'>,
  ms: number,
  work: () => void | Promise<void>,
  signal?: AbortSignal,
): void {
  const stop = signal === undefined ? closing : AbortSignal.any([closing, signal]);
  const run = async () => {
    try {
      await clock.sleep(ms, stop);
    } catch (error) {
      if (stop.aborted) return;
      throw error;
    }
    if (!stop.aborted) await work();
  };
  run().catch((error: unknown) => {
    log?.error(
      { reason: error instanceof Error ? error.message : String(error) },
      'embedded media work failed',
    );
  });
}
