import type { Clock } from '../../platform/clock.ts';
import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';
import type { UnitOfWork } from '../../platform/storage/unit-of-work.ts';
import type { SecretBox } from '../sender/sender.ts';
import type { Webhook, WebhookSecrets, WebhookStores } from '../store.ts';

/** Small, so that other writers do not wait for a batch. */
const BATCH = 50;
const PAUSE_MS = 50;
/** Maximum webhook ids that one log line names. */
const NAMED_AT_MOST = 10;

export type ReencryptDeps = {
  readonly store: UnitOfWork<WebhookStores>;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
};

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

/**
 * Re-encrypts secrets that earlier keys and versions encrypted with the current key and format, so that the earlier keys can
 * be dropped. Deletes previous secrets whose overlap has ended. Several instances may run it at once; a rotation at the same
 * time is not overwritten.
 */
export async function reencryptSecrets(deps: ReencryptDeps, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = deps;
  const all = (await store.webhooks.list()).map((webhook) => ({ webhook, ...reencrypted(deps, webhook) }));
  const changed = all.flatMap(({ webhook, secrets }) =>
    secrets === undefined ? [] : [{ webhook, secrets }],
  );
  let count = 0;
  for (let first = 0; first < changed.length && !signal.aborted; first += BATCH) {
    if (first > 0) await clock.sleep(PAUSE_MS, signal);
    count += await store.transaction((inside) => reencryptBatch(inside, changed.slice(first, first + BATCH)));
  }
  if (count > 0) log.info({ webhooks: count }, 'encrypted webhook secrets with the current ENCRYPTION_KEY');
  const lost = all.filter(({ isLost }) => isLost).map(({ webhook }) => webhook.id);
  if (lost.length === 0) return;
  const fields = { webhooks: lost.length, webhookIds: lost.slice(0, NAMED_AT_MOST) };
  log.error(
    fields,
    'webhook secrets cannot be decrypted: add the ENCRYPTION_KEY that they were stored with behind the current one, or give the webhooks new secrets by PUT',
  );
}

type Change = { readonly webhook: Webhook; readonly secrets: WebhookSecrets };

async function reencryptBatch(
  { webhooks }: UnitOfWork<WebhookStores>,
  batch: readonly Change[],
): Promise<number> {
  let count = 0;
  for (const { webhook, secrets } of batch) if (await webhooks.replaceSecrets(webhook, secrets)) count += 1;
  return count;
}

type Reencrypted = { readonly secrets: WebhookSecrets | undefined; readonly isLost: boolean };

function reencrypted({ secretBox, clock }: ReencryptDeps, webhook: Webhook): Reencrypted {
  const { id, secret, previousSecret, previousSecretUntil } = webhook;
  const isOverlapping = previousSecretUntil !== null && previousSecretUntil > clock.now();
  const secrets = {
    secret: reencrypt(secretBox, secret, id),
    previousSecret:
      isOverlapping && previousSecret !== null ? reencrypt(secretBox, previousSecret, id) : null,
    previousSecretUntil: isOverlapping ? previousSecretUntil : null,
  };
  const isChanged = secrets.secret !== secret || secrets.previousSecret !== previousSecret;
  const isLost = [secrets.secret, secrets.previousSecret].some(
    (sealed) => sealed !== null && !secretBox.isCurrent(sealed),
  );
  return { secrets: isChanged ? secrets : undefined, isLost };
}

/** A secret that no key opens stays as it is, because its key may come back. */
function reencrypt(box: SecretBox, sealed: string, webhookId: string): string {
  if (box.isCurrent(sealed)) return sealed;
  try {
    return box.seal(box.open(sealed, webhookId), webhookId);
  } catch {
    return sealed;
  }
}
