import { type Static, Type } from 'typebox';
import { instantSchema } from './names.ts';
import { named, orNull } from './schema.ts';

export const transcriptionId = Type.String({
  description: 'Form tr_<id>',
  examples: ['tr_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
});

export const SegmentSchema = named('Segment', 'A piece of speech of one speaker', {
  id: Type.String({ description: 'Form seg_<id>', examples: ['seg_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'] }),
  transcriptionId,
  trackId: orNull(
    Type.String(),
    'The track of the speech; null in the transcription of a recording if no worker listened to the tracks, or none of them had speech',
  ),
  participantIdentity: orNull(Type.String(), 'Identity of the speaker; null if trackId is null'),
  speaker: orNull(Type.String(), 'Name of the speaker at the time of this request; null if it is not known'),
  text: Type.String({ description: 'What was said' }),
  language: Type.String({
    description: 'BCP 47; und in a transcription in auto if the model did not detect it',
    examples: ['en-US'],
  }),
  start: Type.Number({ description: "Seconds from the transcription's start" }),
  end: Type.Number({ description: "Seconds from the transcription's start" }),
  startedAt: instantSchema('When the segment began'),
  endedAt: instantSchema('Time of the speech'),
  final: Type.Boolean({
    description: 'False for an interim result, which keeps its id when it becomes final',
  }),
  confidence: orNull(
    Type.Number(),
    '0 to 1; null if the model gives none. At most 0.1 for a text that repeats itself or is too long for its sound',
  ),
  words: Type.Optional(
    Type.Array(
      named('Word', 'A word with its times', {
        text: Type.String({ description: 'The word, with its punctuation' }),
        start: Type.Number({ description: "Seconds from the transcription's start" }),
        end: Type.Number({ description: "Seconds from the transcription's start" }),
        confidence: orNull(Type.Number(), '0 to 1; null if the model gives none'),
      }),
      { description: 'The words of the text; only if the model says when each was spoken' },
    ),
  ),
  overlap: Type.Optional(
    Type.Literal(true, {
      description: 'Somebody else spoke at the same time; only in transcriptions of recordings',
    }),
  ),
});
export type Segment = Static<typeof SegmentSchema>;

const TranscriptionWarningSchema = named(
  'TranscriptionWarning',
  'A doubt about the text of a transcription',
  {
    code: Type.Enum(['language-doubtful'], {
      description: 'language-doubtful: the speech is probably in another language than the transcription',
    }),
    participantIdentity: orNull(
      Type.String(),
      'Identity of the speaker; null if it is not known, as in a recording to which no worker listened',
    ),
    detail: Type.String({ description: 'Description of the problem' }),
  },
);
export type TranscriptionWarning = Static<typeof TranscriptionWarningSchema>;

/** The member `warnings` of a transcription. */
export const warnings = Type.Optional(
  Type.Array(TranscriptionWarningSchema, { description: 'Only if there are doubts about the text' }),
);
