import type { Operation } from '../rolling/callers.ts';

/** So many webhooks are kept at a time; further ones replace them. */
const KEPT = 200;

/** What callers were told about their webhooks. */
export class WebhookBook {
  /** Created with 201, and not deleted. By id, the URL. */
  readonly kept = new Map<string, string>();
  /** Deleted with 204. */
  readonly deleted = new Set<string>();
  /** Where a delete was refused, either is right. */
  readonly unsure = new Set<string>();
  /** The URLs whose creation was refused. */
  readonly refused = new Set<string>();
}

/** Creates webhooks that stay, and deletes the oldest of them. */
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

/** Needs no database, whatever becomes of it. */
export const CHECK_FISCAL_CODE: Operation = {
  name: 'fiscal codes',
  run: async ({ call }) => void (await call('GET', `/cf/check/${CODE}`)),
};
