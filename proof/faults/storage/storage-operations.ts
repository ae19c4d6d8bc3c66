import type { Operation } from '../../support/callers.ts';

/** Number of webhooks that are kept. New ones replace the oldest. */
const KEPT = 200;

/** The responses that callers got about their webhooks. */
export class WebhookBook {
  /** URLs of webhooks that were created with 201 and not deleted, by id. */
  readonly kept = new Map<string, string>();
  /** Ids of webhooks that were deleted with 204. */
  readonly deleted = new Set<string>();
  /** Ids of webhooks whose deletion failed. They may be stored or not. */
  readonly unsure = new Set<string>();
  /** URLs of webhooks whose creation failed. */
  readonly refused = new Set<string>();
}

/** Creates webhooks, and deletes the oldest ones. */
export function keepWebhooks(book: WebhookBook): Operation {
  return {
    name: 'webhooks that stay',
    run: async ({ call }, id) => {
      const url = `https://example.com/kept/${id}`;
      const created = await call('POST', '/v1/webhooks', { url, events: ['ingress_ended'] });
      if (created.status !== 201) return void book.refused.add(url);
      book.kept.set(String(created.json.id), url);
      const [oldest] = book.kept.keys();
      if (oldest === undefined || book.kept.size <= KEPT) return;
      book.kept.delete(oldest);
      const { status } = await call('DELETE', `/v1/webhooks/${oldest}`);
      if (status === 204) book.deleted.add(oldest);
      else book.unsure.add(oldest);
    },
  };
}

const CODE = 'RSSMRA85T10A562S';

/** An operation that needs no database. */
export const CHECK_FISCAL_CODE: Operation = {
  name: 'fiscal codes',
  run: async ({ call }) => void (await call('GET', `/cf/check/${CODE}`)),
};
