import { type Static, Type } from 'typebox';
import { POST_STATUSES, TRANSCRIPT_FORMATS } from './choices.ts';
import { idParameter, instantSchema, nameSchema } from './names.ts';
import { nextCursor, PAGE, pageCursor, pageLimit } from './paging.ts';
import { closed, closedQuery, named, optionalInstant, orNull } from './schema.ts';
import { SegmentSchema, transcriptionId, warnings } from './segments.ts';

export { type Segment, SegmentSchema, type TranscriptionWarning } from './segments.ts';

/** BCP 47, as far as speech models distinguish languages: language, script, region, variants. */
export const LANGUAGE_PATTERN = '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$';

export const DEFAULT_LANGUAGE = 'en-US';

const language = Type.String({
  pattern: `${LANGUAGE_PATTERN}|^auto$`,
  maxLength: 35,
  description: `BCP 47, or auto when a model detects the spoken language; default ${DEFAULT_LANGUAGE}`,
  examples: ['en-US'],
});

const speakerName = { minLength: 1, maxLength: 256, format: 'livekit-name' } as const;
export const MAX_SPEAKERS = 1000;

/** Constraints on a map of speakers. They are stated here, because the type of the keys constrains nothing. */
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
        description: 'Interim results in captions, and at the end of the returned segments; default false',
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
  { additionalProperties: false, description: 'How to transcribe' },
);

export const LiveStartSchema = closed('TranscriptionStart', 'How to transcribe a room', {
  language: Type.Optional(language),
  participants: Type.Optional(participants),
  options: Type.Optional(TranscriptionOptionsSchema),
});
export type LiveStart = Static<typeof LiveStartSchema>;

export const LiveStartedSchema = named('TranscriptionStarted', 'The active transcription', {
  transcriptionId,
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  status: Type.Literal('active', { description: 'Always active' }),
  language: Type.String({ description: 'BCP 47', examples: ['en-US'] }),
  startedAt: instantSchema('When the transcription was started'),
});
export type LiveStarted = Static<typeof LiveStartedSchema>;

export const LiveStoppedSchema = named('TranscriptionStopped', 'The stopped transcription', {
  transcriptionId,
  status: Type.Literal('stopped', { description: 'Always stopped' }),
  stoppedAt: instantSchema('When the transcription was stopped'),
  segmentCount: Type.Integer({ description: 'Final segments' }),
});
export type LiveStopped = Static<typeof LiveStoppedSchema>;

export const SpeakerUpdateSchema = closed('SpeakerUpdate', 'Names to set or to remove', {
  participants: Type.Record(Type.String(), Type.Union([Type.String(speakerName), Type.Null()]), {
    ...speakerMap,
    description: 'Merged into the map; null removes a name',
    examples: [{ ada: 'Ada' }],
  }),
});
export type SpeakerUpdate = Static<typeof SpeakerUpdateSchema>;

const errorMembers = {
  code: Type.String({ description: 'Error code', examples: ['recording-not-media'] }),
  message: Type.String({ description: 'What is wrong, and what to do' }),
};

export const LIVE_STATES = ['active', 'stopped', 'failed'] as const;

const liveFields = {
  transcriptionId,
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  status: Type.Enum(LIVE_STATES, { description: 'Whether the transcription is still active' }),
  language: Type.String({ description: 'BCP 47', examples: ['en-US'] }),
  startedAt: instantSchema('When the transcription was started'),
  stoppedAt: orNull(
    instantSchema('When it was stopped'),
    'When the transcription was stopped, or failed; null while it is active',
  ),
  error: orNull(Type.Object(errorMembers), 'Why it failed'),
};

export const LiveTranscriptionSchema = named('LiveTranscription', 'The live transcription of a room', {
  ...liveFields,
  segments: Type.Array(SegmentSchema, {
    description:
      'The segments by their start; the first ones that were stored, if there are more than the response has',
  }),
  nextCursor: Type.String({
    description:
      'Position after these segments, for `cursor` of the next read; there is one after the last too',
    examples: ['WyJzZWdtZW50cyIsInRyXzEiLDFd'],
  }),
  warnings,
});
export type LiveTranscription = Static<typeof LiveTranscriptionSchema>;

export const LiveSummarySchema = named(
  'LiveTranscriptionSummary',
  'The live transcription of a room, without its segments',
  liveFields,
);
export type LiveSummary = Static<typeof LiveSummarySchema>;

export const LiveTranscriptionListSchema = named('LiveTranscriptionList', 'A page of live transcriptions', {
  transcriptions: Type.Array(LiveSummarySchema, { description: 'The transcriptions' }),
  nextCursor,
});
export type LiveTranscriptionList = Static<typeof LiveTranscriptionListSchema>;

export const LiveListQuery = closedQuery({
  roomId: Type.Optional(nameSchema('Only transcriptions of this room', 'demo')),
  status: Type.Optional(Type.Enum(LIVE_STATES, { description: 'Only transcriptions in this state' })),
  ...PAGE,
});
export type LiveListQuery = Static<typeof LiveListQuery>;

export const PostQueueSchema = closed('TranscriptionQueue', 'How to transcribe a recording', {
  language: Type.Optional(language),
  participants: Type.Optional(participants),
});
export type PostQueue = Static<typeof PostQueueSchema>;

export const PostQueuedSchema = named('TranscriptionQueued', 'The queued transcription', {
  transcriptionId,
  recordingId: Type.String({ description: "The recording's egress id", examples: ['EG_tH8vdkRoTDWY'] }),
  status: Type.Enum(['queued', 'processing', 'completed'], { description: 'State of the transcription' }),
  queuedAt: instantSchema('When it was queued'),
});
export type PostQueued = Static<typeof PostQueuedSchema>;

/** Why a transcription failed: its `error.code`. A live transcription fails only with worker-lost. */
export const TRANSCRIPTION_FAULTS = {
  'recording-not-found': 'The recording was deleted before it was transcribed.',
  'recording-file-not-found': 'The file of the recording is not where it was stored.',
  'recording-empty': 'The file has no bytes.',
  'recording-not-media': 'The file has neither audio nor video.',
  'recording-without-audio': 'The file has no audio track.',
  'recording-damaged': 'A part of the audio cannot be read; the readable part was transcribed.',
  'recording-storage-error': 'The object storage rejects the service, or its settings have changed.',
  'storage-unavailable': 'The object storage or the database did not respond, three times.',
  'speech-not-recognised': 'The recogniser returned no text for speech.',
  'speech-engine-error': 'The speech engine failed.',
  'worker-lost': 'Several workers died one after the other while they transcribed it.',
  'internal-error': 'An error of the worker; its log has the id of the transcription.',
} as const satisfies Readonly<Record<string, string>>;
export type TranscriptionFault = keyof typeof TRANSCRIPTION_FAULTS;

const postFields = {
  transcriptionId,
  recordingId: Type.String({ description: "The recording's egress id", examples: ['EG_tH8vdkRoTDWY'] }),
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  status: Type.Enum(POST_STATUSES, { description: 'State of the transcription' }),
  language: Type.String({ description: 'BCP 47', examples: ['en-US'] }),
  participants: Type.Record(Type.String(), Type.String(), { description: 'Names of speakers' }),
  progress: Type.Number({ description: 'Share of the audio that has been transcribed, 0 to 1' }),
  queuedAt: instantSchema('When it was queued'),
  startedAt: orNull(
    instantSchema('When a worker first claimed it'),
    'When a worker first claimed it; null before',
  ),
  completedAt: orNull(
    instantSchema('When it was completed or failed'),
    'When it was completed or failed; null before',
  ),
  durationMs: orNull(Type.Integer(), 'Length of the audio in milliseconds; null until known'),
  error: orNull(Type.Object(errorMembers), 'Why it failed, or the error of its last attempt'),
};

export const PostTranscriptionSchema = named(
  'PostTranscription',
  'The transcription of a recording',
  postFields,
);
export type PostTranscription = Static<typeof PostTranscriptionSchema>;

export const PostTranscriptionDetailSchema = named(
  'PostTranscriptionDetail',
  'The transcription of a recording with its segments',
  {
    ...postFields,
    segments: Type.Array(SegmentSchema, { description: 'The segments by their start' }),
    nextCursor,
    warnings,
  },
);
export type PostTranscriptionDetail = Static<typeof PostTranscriptionDetailSchema>;

export const PostTranscriptionListSchema = named('PostTranscriptionList', 'A page of transcriptions', {
  transcriptions: Type.Array(PostTranscriptionSchema, { description: 'The transcriptions' }),
  nextCursor,
});
export type PostTranscriptionList = Static<typeof PostTranscriptionListSchema>;

export const TranscriptionParams = Type.Object({
  transcriptionId: idParameter('Form tr_<id>', 'tr_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'),
});

const format = Type.Optional(
  Type.Enum(TRANSCRIPT_FORMATS, { description: 'Format of the response; default json' }),
);

/** Segments of a response without `limit`: as many as eight hours have in which somebody speaks without a pause. */
export const MOST_SEGMENTS = 10_000;

const segmentPage = {
  limit: pageLimit(1000, `without it, at most ${MOST_SEGMENTS} segments`),
  cursor: pageCursor(512),
};

export const TranscriptionQuery = closedQuery({ ...segmentPage, format });
export type TranscriptionQuery = Static<typeof TranscriptionQuery>;

export const LiveTranscriptionQuery = closedQuery({
  since: optionalInstant('Only segments that end after it', '2026-01-31T09:30:00.000Z'),
  ...segmentPage,
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 25,
      description: 'With cursor: seconds to wait for a new segment, or for the end of the transcription',
    }),
  ),
  format,
});

const searched = {
  roomId: Type.Optional(nameSchema('Only transcriptions of this room', 'demo')),
  recordingId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Only transcriptions of this recording (egress id)',
    }),
  ),
  ...PAGE,
};

const WORDS = {
  minLength: 1,
  maxLength: 256,
  examples: ['budget meeting'],
};
const WORDS_MEANING =
  'Words to find in transcripts, live and of recordings; a segment must have all of them. Plain text: no character has a special meaning';
const SPOKEN_LANGUAGE = { pattern: LANGUAGE_PATTERN, maxLength: 35, examples: ['en'] };

export const TranscriptSearchQuery = closedQuery({
  q: Type.String({ ...WORDS, description: WORDS_MEANING }),
  ...searched,
  language: Type.Optional(
    Type.String({
      ...SPOKEN_LANGUAGE,
      description: 'Only segments in this language (BCP 47); en includes en-US',
    }),
  ),
  since: optionalInstant('Only segments that begin then or later'),
  until: optionalInstant('Only segments that begin before then'),
});

export const TranscriptionListQuery = closedQuery({
  ...searched,
  status: Type.Optional(Type.Enum(POST_STATUSES, { description: 'Only transcriptions in this state' })),
});
export type TranscriptionListQuery = Static<typeof TranscriptionListQuery>;
export type TranscriptSearchQuery = Static<typeof TranscriptSearchQuery>;
