import { type Static, Type } from 'typebox';
import { nextCursor } from './paging.ts';
import { closedQuery, named, orNull } from './schema.ts';
import { SegmentSchema } from './segments.ts';

const TextPieceSchema = named('TextPiece', 'A piece of the text of a match', {
  text: Type.String({ description: 'A part of the text', examples: ['meeting'] }),
  match: Type.Boolean({ description: 'Whether this piece was searched for' }),
});

const TranscriptHitSchema = named('TranscriptHit', 'A segment that matches', {
  kind: Type.Enum(['live', 'post'], { description: 'post: the transcription of a recording' }),
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  recordingId: orNull(Type.String(), "The recording's egress id; null for a live transcription"),
  segment: SegmentSchema,
  highlighted: Type.Array(TextPieceSchema, {
    description: 'The text of the segment in pieces, which together are the whole text',
  }),
});
export type TranscriptHit = Static<typeof TranscriptHitSchema>;

export const TranscriptHitListSchema = named('TranscriptHitList', 'A page of matches in transcripts', {
  hits: Type.Array(TranscriptHitSchema, {
    description: 'The found segments, newest first. May be empty although nextCursor is not null',
  }),
  nextCursor,
});
export type TranscriptHitList = Static<typeof TranscriptHitListSchema>;

export const ForgetWordsQuery = closedQuery({
  allRooms: Type.Optional(
    Type.Enum(['true', 'false'], {
      description: "true: the participant's words in every room; default false",
    }),
  ),
  everything: Type.Optional(
    Type.Enum(['true', 'false'], {
      description:
        'true: also identity, name and metadata in events, deliveries, sessions, blocks, the audit log and maps of speakers, which needs the scope admin; default false',
    }),
  ),
});

/** The audit log has this in place of an erased identity; it is the beginning of every pseudonym. */
export const ERASED = 'erased';

const ErasedTracesSchema = named('ErasedTraces', 'What was erased of a participant beside the words', {
  events: Type.Integer({
    description: 'Events, and with them payloads of deliveries, that have a pseudonym now',
  }),
  connections: Type.Integer({ description: 'Connections in sessions that have a pseudonym now' }),
  speakers: Type.Integer({ description: 'Names that were deleted from maps of speakers' }),
  blocks: Type.Integer({ description: 'Blocks that were ended' }),
  blocksUntil: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description:
      'Until when the database has the identity in ended blocks, from which other instances learn of the end; null if there are none',
    examples: ['2026-09-01T10:20:30.000Z'],
  }),
  auditEntries: Type.Integer({ description: 'Audit entries that do not have the identity any more' }),
  auditEntriesUntil: Type.String({
    format: 'date-time',
    description: 'Until when the last of them, and the entry of this request, are kept',
    examples: ['2027-09-01T10:00:00.000Z'],
  }),
  presentIn: Type.Integer({
    description: 'Sessions that were left out because the participant is there: repeat it afterwards',
  }),
});
export type ErasedTraces = Static<typeof ErasedTracesSchema>;

export const ForgottenWordsSchema = named(
  'ForgottenWords',
  "What was deleted of a participant's words, and what remains",
  {
    segments: Type.Integer({ description: 'Final segments that were deleted' }),
    transcriptions: Type.Integer({ description: 'Transcriptions that contained them' }),
    running: Type.Integer({
      description: 'Running transcriptions of the room, which go on storing what the participant says',
    }),
    recordings: Type.Integer({
      description: 'Recordings with speech of the participant: their audio stays until they are deleted',
    }),
    traces: Type.Optional(
      Type.Unsafe<ErasedTraces>({ ...ErasedTracesSchema, description: 'Only with `everything`' }),
    ),
  },
);
export type ForgottenWords = Static<typeof ForgottenWordsSchema>;
