import { type ReencryptDeps, reencryptSecrets } from './re-encrypt-secrets.ts';

const RETRY_MS = 60_000;

/** Once, at the start: keys change with a restart only. A store that is away is tried again. */
export function startReencryption(deps: ReencryptDeps): { readonly close: () => Promise<void> } {
  const closing = new AbortController();
  const running = run(deps, closing.signal);
  return {
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

async function run(deps: ReencryptDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await reencryptSecrets(deps, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      deps.log.warn({ err: error }, 'sealing webhook secrets with the current key failed; trying again');
      await deps.clock.sleep(RETRY_MS, signal).catch(() => {});
    }
  }
}
