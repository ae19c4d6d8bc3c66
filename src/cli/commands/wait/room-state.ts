import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import type { EventType } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';

/** The participants of a room by connection: somebody who joins again is in it twice until the old connection has ended. */
type Connections = ReadonlyMap<string, { readonly identity: string; readonly tracks: ReadonlySet<string> }>;

export type RoomState = {
  readonly room: string;
  readonly isOpen: boolean;
  /** Identities, each once. */
  readonly participants: readonly string[];
  readonly publishers: readonly string[];
  /** The session of the room; undefined while it is closed. */
  readonly sid: string | undefined;
  readonly connections: Connections;
  /** Set when the room was not found. */
  readonly notFound: RtcError | undefined;
};

export const ROOM_EVENTS: readonly EventType[] = [
  'room_created',
  'room_started',
  'room_finished',
  'participant_joined',
  'participant_left',
  'track_published',
  'track_unpublished',
];

/** Agents are listed but not counted as participants, as in events. */
const AGENT = 'AGENT';

export async function readRoom(client: RtcClient, room: string, signal: AbortSignal): Promise<RoomState> {
  try {
    const { sid } = await client.rooms.get(room, { signal });
    const { participants } = await client.participants.list(room, { signal });
    const people = participants.filter(({ kind }) => kind !== AGENT);
    const connections = people.map(({ sid: connection, identity, tracks }) => {
      const published = new Set(tracks.map((track) => track.sid));
      return [connection, { identity, tracks: published }] as const;
    });
    return openRoom(room, sid, new Map(connections));
  } catch (error) {
    if (!(error instanceof RtcError) || error.code !== 'room-not-found') throw error;
    return closedRoom(room, error);
  }
}

/** Returns the state after an event of the room; undefined for an event of another session than the known one. */
export function applyRoomEvent(state: RoomState, event: Event): RoomState | undefined {
  if (state.sid === undefined || event.room?.id !== state.sid) return undefined;
  if (event.event === 'room_finished') return closedRoom(state.room, undefined);
  const { participant, track } = event;
  if (participant === undefined) return state;
  const { sid, identity } = participant;
  const connections = new Map(state.connections);
  const tracks = new Set(connections.get(sid)?.tracks);
  if (event.event === 'track_published' && track?.sid !== undefined) tracks.add(track.sid);
  if (event.event === 'track_unpublished' && track?.sid !== undefined) tracks.delete(track.sid);
  if (event.event === 'participant_left') connections.delete(sid);
  else if (event.event === 'participant_joined' || connections.has(sid)) {
    connections.set(sid, { identity, tracks });
  }
  return openRoom(state.room, state.sid, connections);
}

function openRoom(room: string, sid: string, connections: Connections): RoomState {
  const all = [...connections.values()];
  const publishing = all.filter(({ tracks }) => tracks.size > 0);
  return {
    room,
    sid,
    connections,
    isOpen: true,
    participants: [...new Set(all.map(({ identity }) => identity))],
    publishers: [...new Set(publishing.map(({ identity }) => identity))],
    notFound: undefined,
  };
}

function closedRoom(room: string, notFound: RtcError | undefined): RoomState {
  const nobody = { participants: [], publishers: [], connections: new Map() };
  return { room, sid: undefined, isOpen: false, notFound, ...nobody };
}
