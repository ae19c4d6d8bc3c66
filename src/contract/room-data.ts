import { type Static, Type } from 'typebox';
import { DATA_ENCODINGS, DATA_KINDS } from './choices.ts';
import { nameSchema } from './names.ts';

/**
 * Maximum bytes that LiveKit's clients receive reliably in one message: https://docs.livekit.io/home/client/data/packets/
 */
export const MAX_RELIABLE_DATA_BYTES = 15 * 1024;
/** Maximum bytes of one packet. A longer lossy message is lost with any of its packets. */
export const MAX_LOSSY_DATA_BYTES = 1300;

/** Length of the longest message in base64. As text, a message has at most as many characters as bytes. */
const MAX_DATA_CHARACTERS = 4 * Math.ceil(MAX_RELIABLE_DATA_BYTES / 3);
const MAX_DESTINATIONS = 1000;

export const RoomDataSchema = Type.Object(
  {
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
        description:
          'reliable: in order, with retransmissions; lossy: at once or not at all; default reliable',
      }),
    ),
    destinationIdentities: Type.Optional(
      Type.Array(nameSchema('Identity of a participant', 'ada'), {
        minItems: 1,
        maxItems: MAX_DESTINATIONS,
        description: 'Receivers; without it, everyone in the room',
      }),
    ),
  },
  { $id: 'RoomData', description: 'A message to clients in a room', additionalProperties: false },
);
export type RoomData = Static<typeof RoomDataSchema>;

export const RoomDataSentSchema = Type.Object(
  {
    sentTo: Type.Array(Type.String(), {
      description:
        'Identities in the room to which the message was sent. LiveKit does not report who has received it',
      examples: [['ada']],
    }),
  },
  { $id: 'RoomDataSent', description: 'The receivers of a message' },
);
export type RoomDataSent = Static<typeof RoomDataSentSchema>;
