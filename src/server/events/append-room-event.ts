import type { EventAppender } from './append-events.ts';
import type { DomainEvent } from './event-payload.ts';
import type { EventStores, RoomSession } from './store.ts';

/** A room known by its name, with its open session if there is one. */
export type NamedRoom = { readonly name: string; readonly session: RoomSession | undefined };

/**
 * Locks the newest session of the room, unless it has ended. Call it first in a transaction: rooms are locked before
 * events are inserted.
 */
export async function lockNamedRoom(store: EventStores, name: string): Promise<NamedRoom> {
  const newest = await store.presence.findRoomAt(name, Number.MAX_SAFE_INTEGER);
  const isOpen = newest !== undefined && newest.endedAt === null;
  return { name, session: isOpen ? await store.presence.lockRoom(newest.sid) : undefined };
}

export async function appendRoomEvent(
  store: EventStores,
  appender: EventAppender,
  { room: { name, session }, domainEvent }: { readonly room: NamedRoom; readonly domainEvent: DomainEvent },
): Promise<void> {
  const present = session === undefined ? 0 : await store.presence.countPresent(session.sid);
  const updated = await appender.append({ session, roomName: name, present }, [domainEvent]);
  if (updated !== undefined) await store.presence.saveRoom(updated);
}
