import type { SignedClient } from './signed-client.ts';

/** Returns the room name of every event that the service lists. */
export async function namesOfStoredEvents(client: SignedClient): Promise<readonly string[]> {
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const path = `/v1/events?limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { json } = await client.call('GET', path);
    const page: readonly { readonly room?: { readonly name?: string } }[] = Array.isArray(json.events)
      ? json.events
      : [];
    names.push(...page.map(({ room }) => room?.name ?? ''));
    if (page.length === 0 || typeof json.nextCursor !== 'string') return names;
    cursor = json.nextCursor;
  }
}
