import type { SignedClient } from '../support/signed-client.ts';

export type Listing = {
  readonly name: string;
  /** The path with its query, without the cursor. */
  readonly path: string;
};

const LIMIT = 50;

export function listings(webhookId: string): readonly Listing[] {
  return [
    { name: 'rooms', path: '/v1/rooms' },
    { name: 'events', path: '/v1/events' },
    { name: 'events of a room', path: '/v1/events?room=room-7' },
    { name: 'events of two types', path: '/v1/events?types=track_published,participant_left' },
    { name: 'events since yesterday', path: `/v1/events?since=${yesterday()}` },
    { name: 'webhooks', path: '/v1/webhooks' },
    { name: 'deliveries of a webhook', path: `/v1/webhooks/${webhookId}/deliveries` },
    { name: 'failed deliveries', path: `/v1/webhooks/${webhookId}/deliveries?status=failed` },
    { name: 'sessions', path: '/v1/sessions' },
  ];
}

/** Resolves to the milliseconds of each page. Pages follow one another, and begin again after the last one. */
export async function timePages(
  client: SignedClient,
  { path }: Listing,
  count: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < count; page += 1) {
    const query = `limit=${LIMIT}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const startedAt = performance.now();
    const { status, json } = await client.call('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`);
    times.push(performance.now() - startedAt);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    cursor = typeof json.nextCursor === 'string' && lengthOf(json) === LIMIT ? json.nextCursor : undefined;
  }
  return times;
}

function lengthOf(page: Readonly<Record<string, unknown>>): number {
  const list = Object.values(page).find(Array.isArray);
  return list?.length ?? 0;
}

function yesterday(): string {
  return new Date(Date.now() - 86_400_000).toISOString();
}
