import { type Static, Type } from 'typebox';
import { instantSchema } from './names.ts';

const egressId = Type.String({ description: 'Form EG_<id>', examples: ['EG_tH8vdkRoTDWY'] });

export const RecordingStartSchema = Type.Object(
  {
    egressId,
    roomId: Type.String({ examples: ['demo'] }),
    status: Type.Enum(['recording', 'already_recording']),
    startedAt: instantSchema('When the recording was started'),
  },
  { $id: 'RecordingStart' },
);
export type RecordingStart = Static<typeof RecordingStartSchema>;

export const RecordingStopSchema = Type.Object(
  {
    egressId,
    roomId: Type.String({ examples: ['demo'] }),
    status: Type.Literal('stopped'),
    stoppedAt: instantSchema('When the recording was stopped'),
  },
  { $id: 'RecordingStop' },
);
export type RecordingStop = Static<typeof RecordingStopSchema>;

export const RecordingStatusSchema = Type.Object(
  {
    isRecording: Type.Boolean(),
    egressId: Type.Union([egressId, Type.Null()]),
    startedAt: Type.Union([instantSchema('When the recording was started'), Type.Null()]),
  },
  { $id: 'RecordingStatus' },
);
export type RecordingStatus = Static<typeof RecordingStatusSchema>;
