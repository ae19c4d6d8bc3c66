import { type Static, Type } from 'typebox';
import { ROLES, TRACK_SOURCES } from './choices.ts';
import { instantSchema, nameSchema, roomNameSchema } from './names.ts';
import { closed, named } from './schema.ts';

export const RoleSchema = Type.Enum(ROLES, {
  description:
    'Grants of the token: a host may do everything, also in LiveKit; a moderator and a participant publish and subscribe; a viewer only subscribes. Hosts and moderators may mute others through your back end.',
});

/** A year, the maximum of the service's settings. */
const MAX_TTL_SECONDS = 31_536_000;

export const TokenRequestSchema = closed('TokenRequest', 'The person, the room and the role', {
  roomId: roomNameSchema('Target room name', 'demo'),
  userId: nameSchema('Unique participant identity', 'ada'),
  name: nameSchema('Display name', 'Ada Lovelace'),
  role: RoleSchema,
  metadata: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Attached to the participant as JSON text, at most 512 KiB',
      examples: [{ team: 'blue' }],
    }),
  ),
  ttl: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_TTL_SECONDS,
      description:
        'Seconds until the token expires, at most MAX_TOKEN_TTL of the service (a day by default); default TOKEN_TTL (an hour by default)',
      examples: [3600],
    }),
  ),
  canPublishSources: Type.Optional(
    Type.Array(Type.Enum(TRACK_SOURCES), {
      minItems: 1,
      maxItems: TRACK_SOURCES.length,
      description: 'Limits a role that may publish to tracks of these sources; default: every source',
      examples: [['microphone']],
    }),
  ),
});
export type TokenRequest = Static<typeof TokenRequestSchema>;

export const TokenSchema = named('Token', 'What a participant needs to join a room', {
  token: Type.String({ description: "LiveKit access token (JWT), signed with the media server's key" }),
  url: Type.String({
    description: 'WebSocket URL of the media server',
    examples: ['wss://media.example.org'],
  }),
  expiresAt: instantSchema("The JWT's own exp"),
  waiting: Type.Optional(
    Type.Boolean({
      description: 'True for a token that leads into the waiting room of a room with a lobby',
    }),
  ),
});
export type Token = Static<typeof TokenSchema>;
