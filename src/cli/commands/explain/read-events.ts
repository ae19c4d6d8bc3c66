import type { Event } from '../../../contract/events.ts';
import type { Reading } from './explain-deliveries.ts';

/** Maximum events that are read; a busy room has more in a day than anybody reads. */
const MOST = 10_000;

type Wanted = { readonly room?: string; readonly sinceMs: number };

/** Reads the room's events since an instant, the oldest first; of very many only the last ones. */
export async function readEvents(
  { client, signal }: Reading,
  { room, sinceMs }: Wanted,
): Promise<readonly Event[]> {
  const since = new Date(Math.max(0, sinceMs)).toISOString();
  const events: Event[] = [];
  for await (const event of client.events.all({ room, since, signal })) {
    events.push(event);
    if (events.length > MOST) events.shift();
  }
  return events;
}
