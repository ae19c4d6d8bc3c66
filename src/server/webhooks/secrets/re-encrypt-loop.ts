import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import { type ReencryptDeps, reencryptSecrets } from './re-encrypt-secrets.ts';

/**
 * Re-encrypts the secrets once at the start, because keys change only with a restart. Repeats it while the store does not
 * respond.
 */
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
