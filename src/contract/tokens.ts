import { type Static, Type } from 'typebox';
import { ROLES } from './choices.ts';
import { instantSchema, nameSchema } from './names.ts';

export const RoleSchema = Type.Enum(ROLES, { description: 'Determines the grants of the token' });

export const TokenRequestSchema = Type.Object(
  {
    roomId: nameSchema('Target room name', 'demo'),
    userId: nameSchema('Unique participant identity', 'ada'),
    name: nameSchema('Display name', 'Ada Lovelace'),
    role: RoleSchema,
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Attached to the participant as JSON text, at most 512 KiB',
        examples: [{ team: 'blue' }],
      }),
    ),
  },
  { $id: 'TokenRequest', additionalProperties: false },
);
export type TokenRequest = Static<typeof TokenRequestSchema>;

export const TokenSchema = Type.Object(
  {
    token: Type.String({ description: "LiveKit access token (JWT), signed with the media server's key" }),
    url: Type.String({
      description: 'WebSocket URL of the media server',
      examples: ['wss://media.example.org'],
    }),
    expiresAt: instantSchema("The JWT's own exp"),
  },
  { $id: 'Token' },
);
export type Token = Static<typeof TokenSchema>;
