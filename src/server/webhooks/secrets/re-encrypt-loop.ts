import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import { type ReencryptDeps, reencryptSecrets } from './re-encrypt-secrets.ts';

/** Once at the start, as keys change only with a restart. It is tried again while the store is away. */
export function startReencryption(deps: ReencryptDeps): Pick<Loop, 'close'> {
  return startLoop({
    clock: deps.clock,
    log: deps.log,
    failureMessage: 'encrypting webhook secrets with the current key failed; trying again',
    round: async (signal) => {
      await reencryptSecrets(deps, signal);
      return undefined;
    },
  });
}
