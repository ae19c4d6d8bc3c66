import type { Recorder } from './append-events.ts';
import type { Happening } from './event-payload.ts';
import type { EventStores, RoomSession } from './store.ts';

/** A room that is known by its name, with the session that is meant, if one is known. */
export type NamedRoom = { readonly name: string; readonly session: RoomSession | undefined };

/** The newest one, unless it has ended. First of all in a transaction: locks come before events. */
export async function lockNamedRoom(store: EventStores, name: string): Promise<NamedRoom> {
  const newest = await store.presence.findRoomAt(name, Number.MAX_SAFE_INTEGER);
  const isOpen = newest !== undefined && newest.endedAt === null;
  return { name, session: isOpen ? await store.presence.lockRoom(newest.sid) : undefined };
}

export async function recordOfRoom(
  store: EventStores,
  recorder: Recorder,
  { room: { name, session }, happening }: { readonly room: NamedRoom; readonly happening: Happening },
): Promise<void> {
  const present = session === undefined ? 0 : await store.presence.countPresent(session.sid);
  const recorded = await recorder.record({ session, roomName: name, present }, [happening]);
  if (recorded !== undefined) await store.presence.saveRoom(recorded);
}
