import { type Static, Type } from 'typebox';
import { nextCursor } from './paging.ts';
import { SegmentSchema } from './segments.ts';

const TextPieceSchema = Type.Object(
  {
    text: Type.String({ description: 'A part of the text', examples: ['meeting'] }),
    match: Type.Boolean({ description: 'Whether it is what was searched for' }),
  },
  { $id: 'TextPiece', description: 'A piece of a text that was found' },
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
      description: 'The text of the segment in pieces; one after the other they are the whole text',
    }),
  },
  { $id: 'TranscriptHit', description: 'A segment that was found' },
);
export type TranscriptHit = Static<typeof TranscriptHitSchema>;

export const TranscriptHitListSchema = Type.Object(
  {
    hits: Type.Array(TranscriptHitSchema, { description: 'What was found, stored last first' }),
    nextCursor,
  },
  { $id: 'TranscriptHitList', description: 'A page of what was found in transcripts' },
);
export type TranscriptHitList = Static<typeof TranscriptHitListSchema>;
