import type { SimulatorContext } from './settings.ts';

/**
 * Runs `work` after `ms`, unless `signal` is aborted or the server closes first. Errors of `work` are logged, because no
 * caller waits for it.
 */
export function runLater(
  { clock, closing, log }: Pick<SimulatorContext, 'clock' | 'closing' | 'log'>,
  { ms, signal }: { readonly ms: number; readonly signal?: AbortSignal },
  work: () => void | Promise<void>,
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
