import { type Static, Type } from 'typebox';
import { DATA_ENCODINGS, DATA_KINDS } from './choices.ts';
import { instantSchema, nameSchema, roomIdParameter, roomNameSchema } from './names.ts';
import { MOST_LISTED, nextCursor, nextPageCursor, pageCursor, pageLimit } from './paging.ts';
import { MAX_UINT32, maxParticipants, roomPlanFields } from './plans.ts';
import { closed, closedQuery, named, open, optionalInstant, orNull } from './schema.ts';

export const RoomParams = Type.Object({ roomId: roomIdParameter });

/** A cursor is base64 of JSON with a name of up to 256 bytes, of which JSON writes some as six characters (\u0007). */
const MAX_CURSOR_LENGTH = 2100;

export const RoomListQuery = closedQuery({
  limit: pageLimit(1000, `without it, all rooms, at most ${MOST_LISTED}`),
  cursor: pageCursor(MAX_CURSOR_LENGTH),
});
export type RoomListQuery = Static<typeof RoomListQuery>;

export const RoomCreateSchema = closed('RoomCreate', 'The room to open', {
  name: roomNameSchema('Room name, which is also its id', 'demo'),
  maxParticipants,
  emptyTimeout: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_UINT32,
      description:
        "Seconds before an empty room is closed: sets both LiveKit's empty timeout (before the first join) and its departure timeout (after the last leave)",
      examples: [600],
    }),
  ),
  metadata: Type.Optional(
    Type.String({
      format: 'livekit-metadata',
      description: 'Arbitrary string stored on the room, at most 512 KiB of UTF-8',
    }),
  ),
  ...roomPlanFields,
});
export type RoomCreate = Static<typeof RoomCreateSchema>;

export const RoomPatchSchema = closed('RoomPatch', 'Changes of the room', {
  metadata: Type.Optional(
    Type.String({
      format: 'livekit-metadata',
      description:
        'Replaces the metadata of the room; at most 512 KiB of UTF-8, and empty for none. Everyone in the room is notified',
    }),
  ),
});
export type RoomPatch = Static<typeof RoomPatchSchema>;

export const RoomDeleteQuery = closedQuery({
  reopen: Type.Optional(
    Type.Enum(['never'], {
      description:
        'Keeps the room closed until POST /v1/rooms opens it again: nobody gets a token for it, and nobody stays in it',
    }),
  ),
  until: optionalInstant(
    'Keeps the room closed until this instant in the future, or until POST /v1/rooms',
    '2026-02-01T08:00:00.000Z',
  ),
});
export type RoomDeleteQuery = Static<typeof RoomDeleteQuery>;

/**
 * LiveKit's Room in protobuf JSON: camelCase names, enum names, int64 as decimal strings, zero values present;
 * without `turnPassword`, which is a secret, and with `activeBroadcast`, which LiveKit does not have. Further fields of newer
 * media servers are passed on.
 */
export const RoomSchema = open('Room', "LiveKit's Room object", {
  sid: Type.String({
    description: "The media server's id of this session of the room",
    examples: ['RM_hycBMAjmt6Ub'],
  }),
  name: Type.String({ description: 'Room name, which is also its id', examples: ['demo'] }),
  emptyTimeout: Type.Integer({ description: 'Seconds before a room that nobody has joined is closed' }),
  departureTimeout: Type.Integer({
    description: 'Seconds before a room is closed after the last participant left',
  }),
  maxParticipants: Type.Integer({ description: 'Maximum number of participants at a time; 0: no limit' }),
  creationTime: Type.String({ description: 'When the room was opened: Unix seconds, int64 as a string' }),
  creationTimeMs: Type.String({
    description: 'When the room was opened: Unix milliseconds, int64 as a string',
  }),
  metadata: Type.String({ description: "Metadata of the room's creation or last update; empty for none" }),
  numParticipants: Type.Integer({
    description: 'Participants in the room, without recorders and agents',
  }),
  numPublishers: Type.Integer({ description: 'Participants who publish a track' }),
  activeRecording: Type.Boolean({
    description: 'Whether a recorder of the media server is in the room, other than for a broadcast',
  }),
  activeBroadcast: Type.Boolean({ description: 'Whether the room is broadcast' }),
});
export type Room = Static<typeof RoomSchema>;

export const RoomListSchema = named('RoomList', 'Open rooms', {
  rooms: Type.Array(RoomSchema, { description: 'The rooms' }),
  nextCursor: nextPageCursor,
});
export type RoomList = Static<typeof RoomListSchema>;

export const ClosedRoomListQuery = closedQuery({
  limit: pageLimit(200, 'default 50'),
  cursor: pageCursor(MAX_CURSOR_LENGTH),
});
export type ClosedRoomListQuery = Static<typeof ClosedRoomListQuery>;

export const ClosedRoomSchema = named('ClosedRoom', 'A room that is kept closed', {
  name: Type.String({ description: 'Room name', examples: ['demo'] }),
  closedAt: instantSchema('When it was closed'),
  closedUntil: orNull(
    instantSchema('When it may be entered again'),
    'When it may be entered again; null for never, until POST /v1/rooms',
  ),
});
export type ClosedRoom = Static<typeof ClosedRoomSchema>;

export const ClosedRoomListSchema = named(
  'ClosedRoomList',
  'The rooms that are kept closed, ordered by name',
  { closedRooms: Type.Array(ClosedRoomSchema, { description: 'The rooms' }), nextCursor },
);
export type ClosedRoomList = Static<typeof ClosedRoomListSchema>;

/**
 * Maximum bytes that LiveKit's clients receive reliably in one message: https://docs.livekit.io/home/client/data/packets/
 */
export const MAX_RELIABLE_DATA_BYTES = 15 * 1024;
/** Maximum bytes of one packet. A longer lossy message is lost with any of its packets. */
export const MAX_LOSSY_DATA_BYTES = 1300;

/** Length of the longest message in base64. As text, a message has at most as many characters as bytes. */
const MAX_DATA_CHARACTERS = 4 * Math.ceil(MAX_RELIABLE_DATA_BYTES / 3);
const MAX_DESTINATIONS = 1000;

export const RoomDataSchema = closed('RoomData', 'A message to clients in a room', {
  data: Type.String({
    maxLength: MAX_DATA_CHARACTERS,
    format: 'livekit-metadata',
    description: `What to send: text, or bytes as base64. At most ${MAX_RELIABLE_DATA_BYTES} bytes, and ${MAX_LOSSY_DATA_BYTES} when lossy`,
    examples: ['{"poll":"open"}'],
  }),
  encoding: Type.Optional(
    Type.Enum(DATA_ENCODINGS, {
      description:
        'Encoding of `data`: `text` is sent as UTF-8, `base64` (RFC 4648, section 4) as its bytes; default text',
    }),
  ),
  topic: Type.Optional(nameSchema('Distinguishes kinds of messages in clients', 'poll')),
  kind: Type.Optional(
    Type.Enum(DATA_KINDS, {
      description: 'reliable: in order, with retransmissions; lossy: at once or not at all; default reliable',
    }),
  ),
  destinationIdentities: Type.Optional(
    Type.Array(nameSchema('Identity of a participant', 'ada'), {
      minItems: 1,
      maxItems: MAX_DESTINATIONS,
      description: 'Receivers; without it, everyone in the room',
    }),
  ),
});
export type RoomData = Static<typeof RoomDataSchema>;

export const RoomDataSentSchema = named('RoomDataSent', 'The receivers of a message', {
  sentTo: Type.Array(Type.String(), {
    description:
      'Identities in the room to which the message was sent. LiveKit does not report who has received it',
    examples: [['ada']],
  }),
});
export type RoomDataSent = Static<typeof RoomDataSentSchema>;
