import { type Static, Type } from 'typebox';
import { INGRESS_TYPES } from './choices.ts';
import { idParameter, roomIdParameter } from './ids.ts';
import { nameSchema } from './names.ts';

export const IngressParams = Type.Object({
  roomId: roomIdParameter,
  ingressId: idParameter('Form IN_<id>', 'IN_wnBrCvKPXSSm'),
});

export const IngressCreateSchema = Type.Object(
  {
    type: Type.Optional(Type.Enum(INGRESS_TYPES, { description: 'Protocol; default rtmp' })),
    participantName: Type.Optional(
      nameSchema('Display name in the room; default "Ingress Stream"', 'Camera 1'),
    ),
    participantIdentity: Type.Optional(
      nameSchema('Unique identity; generated as ingress_<id> when absent', 'camera-1'),
    ),
  },
  { $id: 'IngressCreate', additionalProperties: false },
);
export type IngressCreate = Static<typeof IngressCreateSchema>;

/** LiveKit's IngressInfo in protobuf JSON. `streamKey` lets its holder publish into the room. */
export const IngressSchema = Type.Object(
  {
    ingressId: Type.String({ examples: ['IN_wnBrCvKPXSSm'] }),
    name: Type.String(),
    streamKey: Type.String(),
    url: Type.String({ examples: ['rtmp://media.example.org:1935/live'] }),
    inputType: Type.String({ examples: ['RTMP_INPUT'] }),
    roomName: Type.String({ examples: ['demo'] }),
    participantIdentity: Type.String(),
    participantName: Type.String(),
    reusable: Type.Boolean(),
  },
  { $id: 'Ingress', additionalProperties: true, description: "LiveKit's IngressInfo object" },
);
export type Ingress = Static<typeof IngressSchema>;

export const IngressListSchema = Type.Object({ ingress: Type.Array(IngressSchema) }, { $id: 'IngressList' });
export type IngressList = Static<typeof IngressListSchema>;
