import { type Static, Type } from 'typebox';
import { POST_STATUSES, TRANSCRIPT_FORMATS } from './choices.ts';
import { idParameter } from './ids.ts';
import { instantSchema, nameSchema } from './names.ts';
import { pageCursor, pageLimit } from './paging.ts';

/** BCP 47, as far as speech models tell languages apart: language, script, region, variants. */
const LANGUAGE_PATTERN = '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$';
export const DEFAULT_LANGUAGE = 'en-US';

const language = Type.String({
  pattern: LANGUAGE_PATTERN,
  maxLength: 35,
  description: `BCP 47; default ${DEFAULT_LANGUAGE}`,
  examples: ['en-US'],
});

const speakerName = { minLength: 1, maxLength: 256, format: 'livekit-name' } as const;
export const MAX_SPEAKERS = 1000;

/** What a map of speakers keeps to: the type of its keys is no constraint by itself. */
const speakerMap = { maxProperties: MAX_SPEAKERS, propertyNames: speakerName } as const;

/** Track id or identity to speaker name. */
const participants = Type.Record(Type.String(), Type.String(speakerName), {
  ...speakerMap,
  description: 'Track id or identity to speaker name',
  examples: [{ TR_AMDuaW8eDvbDmz: 'Ada' }],
});

export const TranscriptionOptionsSchema = Type.Object(
  {
    partialResults: Type.Optional(
      Type.Boolean({
        description:
          'Interim results in captions, and at the end of the segments that are read; default false',
      }),
    ),
    captions: Type.Optional(
      Type.Boolean({
        description: 'Send captions to everyone in the room (text streams on lk.transcription); default true',
      }),
    ),
    punctuation: Type.Optional(Type.Boolean({ description: 'Punctuation and capitals; default true' })),
    profanityFilter: Type.Optional(
      Type.Boolean({ description: 'Mask profanity with asterisks; default false' }),
    ),
  },
  { additionalProperties: false },
);

export const LiveStartSchema = Type.Object(
  {
    language: Type.Optional(language),
    participants: Type.Optional(participants),
    options: Type.Optional(TranscriptionOptionsSchema),
  },
  { $id: 'TranscriptionStart', additionalProperties: false },
);
export type LiveStart = Static<typeof LiveStartSchema>;

const transcriptionId = Type.String({
  description: 'Form tr_<id>',
  examples: ['tr_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
});

export const LiveStartedSchema = Type.Object(
  {
    transcriptionId,
    roomId: Type.String({ examples: ['demo'] }),
    status: Type.Literal('active'),
    language: Type.String({ examples: ['en-US'] }),
    startedAt: instantSchema('When the transcription was started'),
  },
  { $id: 'TranscriptionStarted' },
);
export type LiveStarted = Static<typeof LiveStartedSchema>;

export const LiveStoppedSchema = Type.Object(
  {
    transcriptionId,
    status: Type.Literal('stopped'),
    stoppedAt: instantSchema('When the transcription was stopped'),
    segmentCount: Type.Integer({ description: 'Final segments' }),
  },
  { $id: 'TranscriptionStopped' },
);
export type LiveStopped = Static<typeof LiveStoppedSchema>;

export const SpeakerUpdateSchema = Type.Object(
  {
    participants: Type.Record(Type.String(), Type.Union([Type.String(speakerName), Type.Null()]), {
      ...speakerMap,
      description: 'Merged into the map; null removes a name',
      examples: [{ ada: 'Ada' }],
    }),
  },
  { $id: 'SpeakerUpdate', additionalProperties: false },
);
export type SpeakerUpdate = Static<typeof SpeakerUpdateSchema>;

export const SegmentSchema = Type.Object(
  {
    id: Type.String({ examples: ['seg_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
    transcriptionId,
    trackId: Type.Union([Type.String(), Type.Null()]),
    participantIdentity: Type.Union([Type.String(), Type.Null()]),
    speaker: Type.Union([Type.String(), Type.Null()], { description: 'Resolved when read' }),
    text: Type.String(),
    language: Type.String(),
    start: Type.Number({ description: "Seconds from the transcription's start" }),
    end: Type.Number({ description: "Seconds from the transcription's start" }),
    startedAt: instantSchema('When it was begun to be said'),
    endedAt: instantSchema('When it was said'),
    final: Type.Boolean({
      description: 'False for an interim result, which keeps its id when it becomes final',
    }),
    confidence: Type.Union([Type.Number(), Type.Null()]),
  },
  { $id: 'Segment' },
);
export type Segment = Static<typeof SegmentSchema>;

export const LiveTranscriptionSchema = Type.Object(
  {
    transcriptionId,
    roomId: Type.String(),
    status: Type.Enum(['active', 'stopped']),
    language: Type.String(),
    startedAt: instantSchema('When the transcription was started'),
    stoppedAt: Type.Union([instantSchema('When it was stopped'), Type.Null()]),
    segments: Type.Array(SegmentSchema),
  },
  { $id: 'LiveTranscription' },
);
export type LiveTranscription = Static<typeof LiveTranscriptionSchema>;

export const PostQueueSchema = Type.Object(
  { language: Type.Optional(language), participants: Type.Optional(participants) },
  { $id: 'TranscriptionQueue', additionalProperties: false },
);
export type PostQueue = Static<typeof PostQueueSchema>;

export const PostQueuedSchema = Type.Object(
  {
    transcriptionId,
    recordingId: Type.String({ description: "The recording's egress id", examples: ['EG_tH8vdkRoTDWY'] }),
    status: Type.Enum(['queued', 'processing', 'completed']),
    queuedAt: instantSchema('When it was queued'),
  },
  { $id: 'TranscriptionQueued' },
);
export type PostQueued = Static<typeof PostQueuedSchema>;

/** Why a post-call transcription failed: its `error.code`. */
export const TRANSCRIPTION_FAULTS = {
  'recording-not-found': 'The recording was deleted before it was transcribed.',
  'recording-file-not-found': 'The file of the recording is not where it was stored.',
  'recording-empty': 'The file has no bytes.',
  'recording-not-media': 'The file is nothing that has sound or pictures.',
  'recording-without-audio': 'The file has no audio track.',
  'recording-damaged': 'A part of the audio cannot be read; what could be read was transcribed.',
  'recording-storage-error': 'The object storage refuses the service, or is set up otherwise by now.',
  'storage-unavailable': 'The object storage or the database did not answer, three times.',
  'speech-not-recognised': 'The recogniser gave no text for speech.',
  'speech-engine-error': 'The speech engine failed.',
  'worker-lost': 'Three workers died while they had it in hand.',
  'internal-error': 'A fault of the worker; its log has the id of the transcription.',
} as const satisfies Readonly<Record<string, string>>;
export type TranscriptionFault = keyof typeof TRANSCRIPTION_FAULTS;

const postFields = {
  transcriptionId,
  recordingId: Type.String({ examples: ['EG_tH8vdkRoTDWY'] }),
  roomId: Type.String({ examples: ['demo'] }),
  status: Type.Enum(POST_STATUSES),
  language: Type.String({ examples: ['en-US'] }),
  participants: Type.Record(Type.String(), Type.String()),
  progress: Type.Number({ description: 'Share of the audio that has been transcribed, 0 to 1' }),
  queuedAt: instantSchema('When it was queued'),
  startedAt: Type.Union([instantSchema('When a worker took it up'), Type.Null()]),
  completedAt: Type.Union([instantSchema('When it was completed or failed'), Type.Null()]),
  durationMs: Type.Union([Type.Integer(), Type.Null()], { description: 'Length of the audio' }),
  error: Type.Union(
    [
      Type.Object({
        code: Type.String({ examples: ['recording-not-media'] }),
        message: Type.String({ description: 'What is wrong, and what to do' }),
      }),
      Type.Null(),
    ],
    { description: 'Why it failed, or why its last try did' },
  ),
};

export const PostTranscriptionSchema = Type.Object(postFields, { $id: 'PostTranscription' });
export type PostTranscription = Static<typeof PostTranscriptionSchema>;

export const PostTranscriptionDetailSchema = Type.Object(
  { ...postFields, segments: Type.Array(SegmentSchema) },
  { $id: 'PostTranscriptionDetail' },
);
export type PostTranscriptionDetail = Static<typeof PostTranscriptionDetailSchema>;

export const PostTranscriptionListSchema = Type.Object(
  {
    transcriptions: Type.Array(PostTranscriptionSchema),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'PostTranscriptionList' },
);
export type PostTranscriptionList = Static<typeof PostTranscriptionListSchema>;

export const TranscriptionParams = Type.Object({
  transcriptionId: idParameter('Form tr_<id>', 'tr_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'),
});

const format = Type.Optional(
  Type.Enum(TRANSCRIPT_FORMATS, { description: 'Format of the response; default json' }),
);

export const TranscriptionQuery = Type.Object({ format }, { additionalProperties: false });

export const LiveTranscriptionQuery = Type.Object(
  {
    since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Only segments that end after it',
        examples: ['2026-01-31T09:30:00.000Z'],
      }),
    ),
    format,
  },
  { additionalProperties: false },
);

export const TranscriptionListQuery = Type.Object(
  {
    roomId: Type.Optional(nameSchema('Only those of this room', 'demo')),
    recordingId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Only those of this recording (egress id)' }),
    ),
    status: Type.Optional(Type.Enum(POST_STATUSES, { description: 'Only those in this state' })),
    limit: pageLimit(200, 'default 50'),
    cursor: pageCursor(512),
  },
  { additionalProperties: false },
);
export type TranscriptionListQuery = Static<typeof TranscriptionListQuery>;
