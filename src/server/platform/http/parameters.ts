import { Type } from 'typebox';
import { nameSchema } from '../../../contract/names.ts';

const roomId = nameSchema('Room name', 'demo');

export const RoomParams = Type.Object({ roomId });

export const ParticipantParams = Type.Object({
  roomId,
  participantId: nameSchema("The participant's identity", 'ada'),
});

export const IngressParams = Type.Object({
  roomId,
  ingressId: Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'Form IN_<id>',
    examples: ['IN_wnBrCvKPXSSm'],
  }),
});

export const RecordingParams = Type.Object({
  recordingId: Type.String({
    minLength: 1,
    maxLength: 256,
    description: "The recording's egress id",
    examples: ['EG_tH8vdkRoTDWY'],
  }),
});

export const TranscriptionParams = Type.Object({
  transcriptionId: Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'Form tr_<id>',
    examples: ['tr_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
  }),
});

const webhookId = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Form wh_<id>',
  examples: ['wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
});

export const WebhookParams = Type.Object({ webhookId });

export const DeliveryParams = Type.Object({
  webhookId,
  deliveryId: Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'Form dlv_<id>',
    examples: ['dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
  }),
});
