import { type Static, Type } from 'typebox';
import { INGRESS_TYPES } from './choices.ts';
import { idParameter, nameSchema, roomIdParameter } from './names.ts';
import { MOST_LISTED, nextPageCursor, pageCursor, pageLimit } from './paging.ts';
import { closed, closedQuery, named, open } from './schema.ts';

export const IngressParams = Type.Object({
  roomId: roomIdParameter,
  ingressId: idParameter('Form IN_<id>', 'IN_wnBrCvKPXSSm'),
});

export const IngressCreateSchema = closed('IngressCreate', 'The ingress to create', {
  type: Type.Optional(Type.Enum(INGRESS_TYPES, { description: 'Protocol; default rtmp' })),
  participantName: Type.Optional(
    nameSchema('Display name in the room; default "Ingress Stream"', 'Camera 1'),
  ),
  participantIdentity: Type.Optional(
    nameSchema('Unique identity; generated as ingress_<id> when absent', 'camera-1'),
  ),
});
export type IngressCreate = Static<typeof IngressCreateSchema>;

/** LiveKit's IngressInfo in protobuf JSON. `streamKey` lets its holder publish into the room. */
export const IngressSchema = open('Ingress', "LiveKit's IngressInfo object", {
  ingressId: Type.String({ description: 'Form IN_<id>', examples: ['IN_wnBrCvKPXSSm'] }),
  name: Type.String({ description: 'Name of the ingress' }),
  streamKey: Type.String({ description: 'Key for the streaming program; its holder can publish a stream' }),
  url: Type.String({
    description: 'Address for the stream',
    examples: ['rtmp://media.example.org:1935/live'],
  }),
  inputType: Type.String({ description: 'RTMP_INPUT or WHIP_INPUT', examples: ['RTMP_INPUT'] }),
  roomName: Type.String({ description: 'The room in which the stream is published', examples: ['demo'] }),
  participantIdentity: Type.String({ description: 'Identity of the stream in the room' }),
  participantName: Type.String({ description: 'Display name of the stream in the room' }),
  reusable: Type.Boolean({ description: 'Whether the ingress can be used again after a stream has ended' }),
});
export type Ingress = Static<typeof IngressSchema>;

export const IngressListQuery = closedQuery({
  limit: pageLimit(1000, `without it, all, at most ${MOST_LISTED}`),
  cursor: pageCursor(512),
});
export type IngressListQuery = Static<typeof IngressListQuery>;

export const IngressListSchema = named('IngressList', 'Ingress endpoints', {
  ingress: Type.Array(IngressSchema, { description: 'The ingress endpoints, by id' }),
  nextCursor: nextPageCursor,
});
export type IngressList = Static<typeof IngressListSchema>;
