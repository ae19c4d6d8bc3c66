import { type Static, Type } from 'typebox';
import { nextCursor } from './paging.ts';
import { SegmentSchema } from './segments.ts';

const TextPieceSchema = Type.Object(
  {
    text: Type.String({ description: 'A part of the text', examples: ['meeting'] }),
    match: Type.Boolean({ description: 'Whether this piece was searched for' }),
  },
  { $id: 'TextPiece', description: 'A piece of the text of a match' },
);

const TranscriptHitSchema = Type.Object(
  {
    kind: Type.Enum(['live', 'post'], { description: 'post: the transcription of a recording' }),
    roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
    recordingId: Type.Union([Type.String(), Type.Null()], {
      description: "The recording's egress id; null for a live transcription",
    }),
    segment: SegmentSchema,
    highlighted: Type.Array(TextPieceSchema, {
      description: 'The text of the segment in pieces, which together are the whole text',
    }),
  },
  { $id: 'TranscriptHit', description: 'A segment that matches' },
);
export type TranscriptHit = Static<typeof TranscriptHitSchema>;

export const TranscriptHitListSchema = Type.Object(
  {
    hits: Type.Array(TranscriptHitSchema, {
      description: 'The found segments, newest first. May be empty although nextCursor is not null',
    }),
    nextCursor,
  },
  { $id: 'TranscriptHitList', description: 'A page of matches in transcripts' },
);
export type TranscriptHitList = Static<typeof TranscriptHitListSchema>;

export const ForgetWordsQuery = Type.Object(
  {
    allRooms: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: "true: the participant's words in every room; default false",
      }),
    ),
  },
  { additionalProperties: false },
);

export const ForgottenWordsSchema = Type.Object(
  {
    segments: Type.Integer({ description: 'Final segments that were deleted' }),
    transcriptions: Type.Integer({ description: 'Transcriptions that contained them' }),
    running: Type.Integer({
      description: 'Running transcriptions of the room, which go on storing what the participant says',
    }),
    recordings: Type.Integer({
      description: 'Recordings with speech of the participant: their audio stays until they are deleted',
    }),
  },
  { $id: 'ForgottenWords', description: "What was deleted of a participant's words, and what remains" },
);
export type ForgottenWords = Static<typeof ForgottenWordsSchema>;
