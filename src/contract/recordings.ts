import { type Static, Type } from 'typebox';
import { RECORDING_LAYOUTS, RECORDING_PRESETS } from './choices.ts';
import { idParameter, instantSchema, nameSchema } from './names.ts';
import { nextCursor, PAGE } from './paging.ts';
import { closed, closedQuery, named, orNull } from './schema.ts';

export const RecordingParams = Type.Object({
  recordingId: idParameter("The recording's egress id", 'EG_tH8vdkRoTDWY'),
});

const egressId = Type.String({ description: 'Form EG_<id>', examples: ['EG_tH8vdkRoTDWY'] });

export const RecordingSettingsSchema = closed('RecordingSettings', 'How to record', {
  layout: Type.Optional(
    Type.Enum(RECORDING_LAYOUTS, {
      description:
        'Arrangement of the people: everyone in a grid, the speaker beside the others, or the speaker alone; default grid',
    }),
  ),
  audioOnly: Type.Optional(
    Type.Boolean({ description: 'Record sound only, also into an MP4 file; default false' }),
  ),
  recordTracks: Type.Optional(
    Type.Boolean({
      description:
        "Also keep each participant's speech, encrypted, until the recording is transcribed or for 7 days, so that the transcript has everybody when people speak at once; needs a stt-live worker; default false",
    }),
  ),
  preset: Type.Optional(
    Type.Enum(RECORDING_PRESETS, {
      description: 'Resolution and frames per second of the picture; default H264_720P_30',
    }),
  ),
});
export type RecordingSettings = Static<typeof RecordingSettingsSchema>;

export const RecordingStartSchema = named('RecordingStart', 'The running recording', {
  egressId,
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  status: Type.Enum(['recording', 'already_recording'], {
    description: 'already_recording: another request started it',
  }),
  startedAt: instantSchema('When the recording was started'),
});
export type RecordingStart = Static<typeof RecordingStartSchema>;

export const RecordingStopSchema = named('RecordingStop', 'The recording that was stopped', {
  egressId,
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  status: Type.Literal('stopped', { description: 'Always stopped' }),
  stoppedAt: instantSchema('When the recording was stopped'),
});
export type RecordingStop = Static<typeof RecordingStopSchema>;

const mediaStartedAt = orNull(
  instantSchema('Time of the first recorded frame'),
  "When the recording's media begins, some seconds after startedAt: times in the file count from it; null until known",
);

export const RecordingStatusSchema = named('RecordingStatus', 'Whether a room is being recorded', {
  isRecording: Type.Boolean({ description: 'Whether a recording is running' }),
  egressId: orNull(egressId, 'Form EG_<id>; null while none is running'),
  startedAt: orNull(
    instantSchema('When the recording was started'),
    'When the recording was started; null while none is running',
  ),
  mediaStartedAt,
});
export type RecordingStatus = Static<typeof RecordingStatusSchema>;

export const RECORDING_WORDS = ['recording', 'stopped', 'aborted', 'failed'] as const;

/** Has a name, because generators of clients would call it RecordingStatus, which is another schema. */
const RecordingStateSchema = Type.Enum(RECORDING_WORDS, {
  $id: 'RecordingState',
  description:
    'stopped: by a caller, the media server, or because the room ended; aborted: stopped before any media arrived; failed: `error` says why',
});

/** A stored recording, until it is deleted. */
export const RecordingSchema = named('Recording', 'A recording, until it is deleted', {
  recordingId: Type.String({
    description: "The recording's egress id; of the form rec_<id> if there never was an egress",
    examples: ['EG_tH8vdkRoTDWY'],
  }),
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  status: RecordingStateSchema,
  startedAt: orNull(instantSchema('When the recording was started'), 'Null when it never started'),
  mediaStartedAt,
  stoppedAt: orNull(instantSchema('When the recording was stopped'), 'Null while the recording is running'),
  endedAt: orNull(
    instantSchema('When its file was complete'),
    'When the file was complete, or when it was known that there will be none; null before',
  ),
  durationMs: orNull(
    Type.Integer({ examples: [61_500] }),
    'Length of the file in milliseconds; null until known',
  ),
  sizeBytes: orNull(Type.Integer({ examples: [7_340_032] }), 'Size of the file in bytes; null until known'),
  error: orNull(Type.String(), 'Why the recording failed, was aborted, or was ended by its recorder'),
  file: orNull(
    Type.Object({
      bucket: orNull(Type.String({ examples: ['recordings'] }), 'Null for a local file'),
      path: Type.String({
        description: "Key in the bucket, or path on the recorder's file system",
        examples: ['demo/2026-01-31T09-30-00.000Z.mp4'],
      }),
    }),
    'Null without a file',
  ),
});
export type Recording = Static<typeof RecordingSchema>;

export const RecordingListSchema = named('RecordingList', 'A page of recordings', {
  recordings: Type.Array(RecordingSchema, { description: 'The recordings' }),
  nextCursor,
});
export type RecordingList = Static<typeof RecordingListSchema>;

export const RecordingListQuery = closedQuery({
  roomId: Type.Optional(nameSchema('Only recordings of this room', 'demo')),
  status: Type.Optional(Type.Enum(RECORDING_WORDS, { description: 'Only recordings in this state' })),
  ...PAGE,
});
export type RecordingListQuery = Static<typeof RecordingListQuery>;

/** The query of a signed link to a local file. */
export const RecordingLinkQuery = closedQuery({
  expires: Type.Integer({
    minimum: 0,
    description: 'When the link expires, in Unix seconds',
    examples: [1_769_938_263],
  }),
  signature: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'The signature in the link',
    examples: ['pB0wHlGq2Zc'],
  }),
});
