import {
  DisconnectReason,
  type ParticipantInfo,
  ParticipantInfo_State,
  type Room,
  type TrackInfo,
} from '@livekit/protocol';
import type { EventStream } from './events.ts';
import {
  count,
  countLater,
  isDependent,
  isFull,
  isOccupied,
  isRecorder,
  type Joiner,
  type LiveRoom,
  newLiveRoom,
  newParticipant,
  newRoom,
  type RoomSettings,
} from './room-records.ts';
import { runLater } from './run-later.ts';
import type { SimulatorContext } from './settings.ts';

/*
 * The open rooms and their participants, with the lifecycle of LiveKit's room manager:
 *   created    By name or by the first join; emits room_started at once.
 *   empty      Nobody has joined: closes emptyTimeout seconds after its creation.
 *   occupied   Somebody other than recorders and agents is in the room.
 *   left       Closes departureTimeout seconds after the last participant left.
 *   closed     Removes everyone (participant_left), then emits room_finished. A room of the same name is a new one.
 */
export type Rooms = {
  /** Creates a room, or returns the existing one unchanged. */
  readonly open: (settings: RoomSettings) => Room;
  readonly find: (name: string) => LiveRoom | undefined;
  readonly list: () => readonly Room[];
  /** Joins a participant, and creates the room if needed. Another participant of the same identity is removed. */
  readonly join: (name: string, joiner: Joiner) => ParticipantInfo;
  /** Returns false when there was no such participant. */
  readonly leave: (name: string, identity: string, reason: DisconnectReason) => boolean;
  readonly publish: (name: string, identity: string, track: TrackInfo) => TrackInfo;
  readonly unpublish: (name: string, identity: string, trackSid: string) => boolean;
  readonly setMetadata: (name: string, metadata: string) => Room;
  readonly close: (name: string, reason: DisconnectReason) => void;
};

/** LiveKit rejects such a join while it sets up the connection. */
export class RoomFullError extends Error {
  override readonly name = 'RoomFullError';
}

export function createRooms(context: SimulatorContext, events: EventStream): Rooms {
  const live = new Map<string, LiveRoom>();

  const closeLater = (room: LiveRoom, seconds: number) => {
    room.closing.abort();
    room.closing = new AbortController();
    runLater(context, { ms: seconds * 1000, signal: room.closing.signal }, () =>
      close(room, DisconnectReason.ROOM_CLOSED),
    );
  };

  const open = (settings: RoomSettings): Room => {
    const name = settings.name ?? '';
    const existing = live.get(name);
    if (existing !== undefined) return existing.info;
    const info = newRoom(settings, context);
    const room = newLiveRoom(info, context.clock.now());
    live.set(name, room);
    events.emit({ event: 'room_started', room: info });
    closeLater(room, info.emptyTimeout);
    return info;
  };

  const remove = (room: LiveRoom, participant: ParticipantInfo, reason: DisconnectReason) => {
    for (const track of [...participant.tracks]) takeTrack(room, participant, track);
    room.participants.delete(participant.identity);
    participant.state = ParticipantInfo_State.DISCONNECTED;
    participant.disconnectReason = reason;
    participant.version += 1;
    events.emit({ event: 'participant_left', room: room.info, participant });
    if (isRecorder(participant)) count(room, context);
    else countLater(room, context);
  };

  const takeTrack = (room: LiveRoom, participant: ParticipantInfo, track: TrackInfo) => {
    participant.tracks = participant.tracks.filter(({ sid }) => sid !== track.sid);
    participant.version += 1;
    events.emit({ event: 'track_unpublished', room: room.info, participant, track });
  };

  const close = (room: LiveRoom, reason: DisconnectReason) => {
    // Removes the room from the map first, so that listeners of participant_left do not find a room that is closing.
    live.delete(room.info.name);
    room.closing.abort();
    for (const participant of [...room.participants.values()]) remove(room, participant, reason);
    events.emit({ event: 'room_finished', room: room.info });
  };

  return {
    open,
    find: (name) => live.get(name),
    list: () => [...live.values()].map(({ info }) => info),
    join: (name, joiner) => {
      open({ name });
      const room = liveRoom(live, name);
      const previous = room.participants.get(joiner.identity);
      if (previous !== undefined) remove(room, previous, DisconnectReason.DUPLICATE_IDENTITY);
      const participant = newParticipant(joiner, context);
      if (!isDependent(participant)) {
        if (isFull(room))
          throw new RoomFullError(`the room "${name}" has its ${room.info.maxParticipants} participants`);
        room.wasJoined = true;
        room.closing.abort();
      }
      room.participants.set(participant.identity, participant);
      if (isRecorder(participant)) count(room, context);
      else countLater(room, context);
      events.emit({ event: 'participant_joined', room: room.info, participant });
      return participant;
    },
    leave: (name, identity, reason) => {
      const room = live.get(name);
      const participant = room?.participants.get(identity);
      if (room === undefined || participant === undefined) return false;
      remove(room, participant, reason);
      if (room.wasJoined && !isDependent(participant) && !isOccupied(room)) {
        closeLater(room, room.info.departureTimeout);
      }
      return true;
    },
    publish: (name, identity, track) => {
      const room = liveRoom(live, name);
      const participant = room.participants.get(identity);
      if (participant === undefined) throw new Error(`nobody called "${identity}" is in the room`);
      participant.tracks.push(track);
      participant.isPublisher = true;
      participant.version += 1;
      countLater(room, context);
      events.emit({ event: 'track_published', room: room.info, participant, track });
      return track;
    },
    unpublish: (name, identity, trackSid) => {
      const room = live.get(name);
      const participant = room?.participants.get(identity);
      const track = participant?.tracks.find(({ sid }) => sid === trackSid);
      if (room === undefined || participant === undefined || track === undefined) return false;
      takeTrack(room, participant, track);
      return true;
    },
    setMetadata: (name, metadata) => {
      const room = liveRoom(live, name);
      room.info.metadata = metadata;
      count(room, context);
      return room.info;
    },
    close: (name, reason) => close(liveRoom(live, name), reason),
  };
}

function liveRoom(live: ReadonlyMap<string, LiveRoom>, name: string): LiveRoom {
  const room = live.get(name);
  if (room === undefined) throw new Error(`no room "${name}" is open`);
  return room;
}
