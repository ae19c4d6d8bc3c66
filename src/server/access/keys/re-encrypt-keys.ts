import type { Clock } from '../../platform/clock.ts';
import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';
import type { AccessStores, ApiKey } from '../store.ts';
import type { SecretBox } from './keys.ts';

export type ReencryptKeysDeps = {
  readonly store: Pick<AccessStores, 'keys'>;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
};

/**
 * Re-encrypts secrets that earlier ENCRYPTION_KEYs encrypted with the current one, so that the earlier ones can be dropped.
 * Runs once at the start, because keys change only with a restart. Several instances may run it at once.
 */
export function startKeyReencryption(deps: ReencryptKeysDeps): Pick<Loop, 'close'> {
  return startLoop({
    clock: deps.clock,
    log: deps.log,
    failureMessage: 'encrypting API keys with the current key failed; trying again',
    round: async (signal) => {
      await reencryptKeys(deps, signal);
      return undefined;
    },
  });
}

/** A secret that no key opens stays as it is, because its key may come back. */
async function reencryptKeys(
  { store, secretBox, clock, log }: ReencryptKeysDeps,
  signal: AbortSignal,
): Promise<void> {
  const lost: string[] = [];
  let count = 0;
  for (const { id, secret } of await store.keys.listActive(clock.now())) {
    if (signal.aborted) return;
    if (secret === null || secretBox.isCurrent(secret)) continue;
    const text = openOrUndefined(secretBox, { id, secret });
    if (text === undefined) lost.push(id);
    else if (await store.keys.replaceSecret({ id, secret }, secretBox.seal(text, id))) count += 1;
  }
  if (count > 0) log.info({ apiKeys: count }, 'encrypted API keys with the current ENCRYPTION_KEY');
  if (lost.length === 0) return;
  log.error(
    { apiKeyIds: lost },
    'API keys cannot be decrypted, and get 503: add the ENCRYPTION_KEY that they were stored with behind the current one, or revoke them and make new ones',
  );
}

function openOrUndefined(box: SecretBox, { id, secret }: Pick<ApiKey, 'id'> & { readonly secret: string }) {
  try {
    return box.open(secret, id);
  } catch {
    return undefined;
  }
}
