import { type Static, Type } from 'typebox';
import { roomIdParameter } from './ids.ts';
import { nameSchema } from './names.ts';

export const ParticipantParams = Type.Object({
  roomId: roomIdParameter,
  participantId: nameSchema("The participant's identity; not its sid", 'ada'),
});

/** LiveKit's ParticipantInfo in protobuf JSON. */
export const ParticipantSchema = Type.Object(
  {
    sid: Type.String({ examples: ['PA_4bPp8Vi9S6Dd'] }),
    identity: Type.String({ examples: ['ada'] }),
    name: Type.String({ examples: ['Ada Lovelace'] }),
    state: Type.String({ examples: ['ACTIVE'] }),
    kind: Type.String({ examples: ['STANDARD'] }),
    metadata: Type.String(),
    joinedAt: Type.String({ description: 'Unix seconds, int64 as a string' }),
    isPublisher: Type.Boolean(),
    attributes: Type.Record(Type.String(), Type.String(), { examples: [{ 'rtc.role': 'host' }] }),
    permission: Type.Optional(
      Type.Object(
        { canPublish: Type.Boolean(), canSubscribe: Type.Boolean(), hidden: Type.Boolean() },
        { additionalProperties: true },
      ),
    ),
    tracks: Type.Array(
      Type.Object(
        {
          sid: Type.String({ examples: ['TR_AMDuaW8eDvbDmz'] }),
          type: Type.String({ examples: ['AUDIO'] }),
          name: Type.String(),
          muted: Type.Boolean(),
          source: Type.String({ examples: ['MICROPHONE'] }),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { $id: 'Participant', additionalProperties: true, description: "LiveKit's ParticipantInfo object" },
);
export type Participant = Static<typeof ParticipantSchema>;

export const ParticipantListSchema = Type.Object(
  { participants: Type.Array(ParticipantSchema) },
  { $id: 'ParticipantList' },
);
export type ParticipantList = Static<typeof ParticipantListSchema>;

export const MuteSchema = Type.Object(
  {
    trackSid: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Track to mute',
      examples: ['TR_AMDuaW8eDvbDmz'],
    }),
  },
  { $id: 'Mute', additionalProperties: false },
);
export type Mute = Static<typeof MuteSchema>;
