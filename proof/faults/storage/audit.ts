import { exactly, type Figure, observed } from '../../part.ts';
import { namesOfStoredEvents } from '../../support/signed-client.ts';
import { countUndelivered } from '../chaos/undelivered.ts';
import type { Calls, StorageStage } from './storage-stage.ts';

/** Whether the outcome of a refused write is known. A connection that breaks during a commit leaves it unknown. */
export type Refusals = 'stored nothing' | 'may have been stored';

/** Compares the stored data with what callers and the webhook's receiver saw. */
export async function audit(
  stage: StorageStage,
  calls: readonly Calls[],
  refusals: Refusals,
): Promise<readonly Figure[]> {
  const { witness, fleet, instance } = stage;
  const unsettled = await countUndelivered(fleet, instance);
  const stored = await namesOfStoredEvents(stage.client);
  const names = new Set(stored);
  await witness.until(({ completeAt }) => [...names].every((name) => completeAt.has(name)));
  const { completeAt, wrongSignatures } = witness.tally();
  const reported = calls.flatMap((call) => call.stored.reported);
  const called = [...names].filter((name) => !name.startsWith('look-'));
  const refusedButStored = called.length - new Set(reported).size;
  const webhooks = await auditWebhooks(stage);
  const onlyRefused = (name: string, count: number): Figure =>
    refusals === 'stored nothing' ? exactly(name, count, 0) : observed(name, count);
  return [
    observed('events acknowledged', reported.length),
    exactly('acknowledged events that are not stored', reported.filter((one) => !names.has(one)).length, 0),
    exactly('events stored twice', stored.length - names.size, 0),
    onlyRefused('events that were refused, and are stored', refusedButStored),
    exactly('stored events that a webhook never got', countMissing(names, completeAt), 0),
    exactly('events that a webhook got, and are not stored', countMissing(completeAt.keys(), names), 0),
    exactly('deliveries with a wrong signature', wrongSignatures, 0),
    exactly('webhooks with a delivery left pending or failed', unsettled, 0),
    observed('webhooks acknowledged and kept', stage.book.kept.size),
    exactly('acknowledged webhooks that are not stored', webhooks.lost, 0),
    exactly('deleted webhooks that are stored', webhooks.undead, 0),
    onlyRefused('webhooks that were refused, and are stored', webhooks.refusedButStored),
  ];
}

function countMissing(names: Iterable<string>, known: { readonly has: (name: string) => boolean }): number {
  return [...names].filter((name) => !known.has(name)).length;
}

type Listed = { readonly id: string; readonly url: string };

async function auditWebhooks({ client, book }: StorageStage) {
  const { json } = await client.call('GET', '/v1/webhooks');
  const listed: readonly Listed[] = Array.isArray(json.webhooks) ? json.webhooks : [];
  const urls = new Map(listed.map(({ id, url }) => [id, url]));
  return {
    lost: [...book.kept].filter(([id, url]) => urls.get(id) !== url).length,
    undead: [...book.deleted].filter((id) => urls.has(id)).length,
    refusedButStored: listed.filter(({ url }) => book.refused.has(url)).length,
  };
}
