import { type Static, Type } from 'typebox';
import { TRACK_SOURCES } from './choices.ts';
import { nameSchema, roomIdParameter } from './names.ts';
import { MOST_LISTED, nextPageCursor, pageCursor, pageLimit } from './paging.ts';
import { closed, closedQuery, named, open } from './schema.ts';
import { RoleSchema } from './tokens.ts';

export const ParticipantParams = Type.Object({
  roomId: roomIdParameter,
  participantId: nameSchema("The participant's identity; not its sid", 'ada'),
});

/** LiveKit's ParticipantInfo in protobuf JSON. */
export const ParticipantSchema = open('Participant', "LiveKit's ParticipantInfo object", {
  sid: Type.String({
    description: "The media server's id of this connection",
    examples: ['PA_4bPp8Vi9S6Dd'],
  }),
  identity: Type.String({ description: 'Identity of the token (userId)', examples: ['ada'] }),
  name: Type.String({ description: 'Display name', examples: ['Ada Lovelace'] }),
  state: Type.String({ description: 'JOINING, JOINED, ACTIVE or DISCONNECTED', examples: ['ACTIVE'] }),
  kind: Type.String({
    description: 'STANDARD for people, INGRESS for streams, SIP for telephones',
    examples: ['STANDARD'],
  }),
  metadata: Type.String({ description: 'JSON text of the token; empty without metadata' }),
  joinedAt: Type.String({ description: 'When the participant joined: Unix seconds, int64 as a string' }),
  isPublisher: Type.Boolean({ description: 'Whether the participant publishes a track' }),
  attributes: Type.Record(Type.String(), Type.String(), {
    description:
      'Signed attributes of the token: rtc.role, rtc.canMuteOthers, and rtc.key with the id of an API key other than the root key',
    examples: [{ 'rtc.role': 'host' }],
  }),
  permission: Type.Optional(
    Type.Object(
      {
        canPublish: Type.Boolean({ description: 'May publish tracks' }),
        canSubscribe: Type.Boolean({
          description: 'Whether the participant may receive the tracks of others',
        }),
        hidden: Type.Boolean({ description: 'Whether the participant is invisible to others' }),
      },
      { additionalProperties: true, description: 'Permissions of the token' },
    ),
  ),
  tracks: Type.Array(
    Type.Object(
      {
        sid: Type.String({
          description: 'Id of the track, for muting',
          examples: ['TR_AMDuaW8eDvbDmz'],
        }),
        type: Type.String({ description: 'AUDIO, VIDEO or DATA', examples: ['AUDIO'] }),
        name: Type.String({ description: 'Name from the publisher' }),
        muted: Type.Boolean({ description: 'Whether the track is muted' }),
        source: Type.String({
          description: 'CAMERA, MICROPHONE, SCREEN_SHARE, SCREEN_SHARE_AUDIO or UNKNOWN',
          examples: ['MICROPHONE'],
        }),
      },
      { additionalProperties: true },
    ),
    { description: 'Tracks that the participant publishes' },
  ),
});
export type Participant = Static<typeof ParticipantSchema>;

/** An identity has up to 256 characters, which a cursor has in base64url of JSON. */
const MAX_CURSOR_LENGTH = 2_200;

export const ParticipantListQuery = closedQuery({
  limit: pageLimit(1000, `without it, everyone, at most ${MOST_LISTED}`),
  cursor: pageCursor(MAX_CURSOR_LENGTH),
});
export type ParticipantListQuery = Static<typeof ParticipantListQuery>;

export const ParticipantListSchema = named('ParticipantList', 'The participants of a room', {
  participants: Type.Array(ParticipantSchema, {
    description: 'The participants, by identity',
  }),
  nextCursor: nextPageCursor,
});
export type ParticipantList = Static<typeof ParticipantListSchema>;

const attributeValue = Type.Union([Type.String({ format: 'livekit-metadata' }), Type.Null()]);

export const ParticipantPatchSchema = closed('ParticipantPatch', 'Changes of the participant', {
  name: Type.Optional(nameSchema('New display name', 'Ada Lovelace')),
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Replaces the metadata; kept as JSON text, at most 512 KiB',
      examples: [{ team: 'red' }],
    }),
  ),
  attributes: Type.Optional(
    Type.Record(Type.String(), attributeValue, {
      maxProperties: 100,
      propertyNames: { type: 'string', minLength: 1, format: 'livekit-name' },
      description:
        'Merged into the attributes, at most 64 KiB in LiveKit; null or an empty text removes one. Those that begin with `rtc.` belong to the role',
      examples: [{ hand: 'raised' }],
    }),
  ),
  role: Type.Optional(RoleSchema),
});
export type ParticipantPatch = Static<typeof ParticipantPatchSchema>;

export const MuteSchema = closed('Mute', 'What to mute', {
  trackSid: Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'Track to mute',
    examples: ['TR_AMDuaW8eDvbDmz'],
  }),
  muted: Type.Optional(
    Type.Boolean({
      description:
        'False unmutes it, if the media server allows that (`room.enable_remote_unmute` of LiveKit); default true',
    }),
  ),
});
export type Mute = Static<typeof MuteSchema>;

const MAX_EXCEPTIONS = 1000;

export const RoomMuteSchema = closed('RoomMute', 'Which tracks to mute in a room', {
  except: Type.Optional(
    Type.Array(nameSchema('Identity of a participant', 'ada'), {
      maxItems: MAX_EXCEPTIONS,
      description: 'Identities that are not muted',
    }),
  ),
  sources: Type.Optional(
    Type.Array(Type.Enum(TRACK_SOURCES), {
      minItems: 1,
      maxItems: TRACK_SOURCES.length,
      description: 'Only tracks of these sources; without it, every track',
    }),
  ),
});
export type RoomMute = Static<typeof RoomMuteSchema>;

const MutedTrackSchema = named('MutedTrack', 'A track that was muted', {
  identity: Type.String({ description: 'The participant who publishes the track', examples: ['ada'] }),
  trackSid: Type.String({ description: 'Track that was muted', examples: ['TR_AMDuaW8eDvbDmz'] }),
});

/** Tracks that one request mutes: the media server mutes them one by one. */
export const MOST_MUTED = 1_000;

export const RoomMutedSchema = named('RoomMuted', 'What was muted in a room', {
  muted: Type.Array(MutedTrackSchema, { description: 'The tracks that this request muted' }),
  mutedTruncated: Type.Optional(
    Type.Boolean({
      description: `True when there are more tracks to mute than the ${MOST_MUTED} of one request: repeat it`,
    }),
  ),
});
export type RoomMuted = Static<typeof RoomMutedSchema>;
