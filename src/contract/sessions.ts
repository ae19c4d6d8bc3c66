import { type Static, Type } from 'typebox';
import { SESSION_STATUSES } from './choices.ts';
import { idParameter, instantSchema, nameSchema, shownMetadata } from './names.ts';
import { nextCursor, PAGE, pageCursor, pageLimit } from './paging.ts';
import { RecordingSchema } from './recordings.ts';
import { closedQuery, named, optionalInstant, orNull } from './schema.ts';

/*
 * A session is a room from its opening to its end. A room of the same name that is opened later is another session,
 * with another id: LiveKit's sid of the room, which events have as `room.id`.
 */

export const SessionParams = Type.Object({
  sessionId: idParameter("The media server's id of the session, as `room.id` of events", 'RM_hycBMAjmt6Ub'),
});

const sessionFields = {
  sessionId: Type.String({
    description: "The media server's id of the session, as `room.id` of events",
    examples: ['RM_hycBMAjmt6Ub'],
  }),
  roomId: Type.String({ description: 'Room name', examples: ['demo'] }),
  status: Type.Enum(SESSION_STATUSES, { description: 'Whether the room is open' }),
  createdAt: instantSchema('When the room was opened'),
  startedAt: orNull(
    instantSchema('When the first participant joined'),
    'When the first participant joined; null if none has',
  ),
  endedAt: orNull(
    instantSchema('When the room was closed'),
    'When the room was closed; null while it is open',
  ),
  ...shownMetadata,
  durationMs: Type.Integer({
    description:
      'From startedAt to endedAt, in milliseconds; until now while the room is open; 0 if nobody joined',
    examples: [1_860_000],
  }),
  totalParticipants: Type.Integer({
    description:
      'Number of identities that were there, without streams into the room; somebody who joined several times counts once',
    examples: [3],
  }),
  peakParticipants: Type.Integer({
    description: 'Maximum number of these identities at the same time',
    examples: [2],
  }),
  participantMinutes: Type.Number({
    description:
      'Minutes of all participants together, with two decimals; until now for those who are still there. Time in which an identity was connected twice counts once',
    examples: [57.25],
  }),
};

export const SessionSchema = named(
  'Session',
  'A room from its opening to its end, without recorders and agents',
  sessionFields,
);
export type Session = Static<typeof SessionSchema>;

export const SessionListSchema = named('SessionList', 'A page of sessions', {
  sessions: Type.Array(SessionSchema, { description: 'The sessions, newest first' }),
  nextCursor,
});
export type SessionList = Static<typeof SessionListSchema>;

const SessionParticipantSchema = named(
  'SessionParticipant',
  'A connection of a participant to the room, from joining to leaving',
  {
    sid: Type.String({
      description: "The media server's id of this connection; somebody who joins again has a new one",
      examples: ['PA_4bPp8Vi9S6Dd'],
    }),
    identity: Type.String({ description: 'Identity of the token (userId)', examples: ['ada'] }),
    name: Type.String({ description: 'Display name', examples: ['Ada Lovelace'] }),
    role: orNull(
      Type.String({ examples: ['host'] }),
      'Role of the token; `ingress` for a stream; null for tokens that another program issued',
    ),
    joinedAt: instantSchema('When the participant joined'),
    leftAt: orNull(instantSchema('When the participant left'), 'Null while the participant is present'),
    durationMs: Type.Integer({
      description: 'From joinedAt to leftAt, in milliseconds; until now while the participant is present',
      examples: [1_717_500],
    }),
  },
);
export type SessionParticipant = Static<typeof SessionParticipantSchema>;

const SessionTranscriptionSchema = named(
  'SessionTranscription',
  'A transcription of the room, or of one of its recordings',
  {
    transcriptionId: Type.String({
      description: 'Form tr_<id>',
      examples: ['tr_01KAJ3F5N8QZ7V2M4T6W8Y0B1C'],
    }),
    kind: Type.Enum(['live', 'post'], { description: 'live: of the room; post: of a recording' }),
    recordingId: orNull(
      Type.String({ examples: ['EG_tH8vdkRoTDWY'] }),
      'The recording of a post-call transcription; null for a live one',
    ),
    status: Type.Enum(['active', 'stopped', 'queued', 'processing', 'completed', 'failed'], {
      description: 'State; active or stopped for a live transcription',
    }),
    language: Type.String({ description: 'BCP 47', examples: ['en-US'] }),
    startedAt: instantSchema('When it was started; when it was queued, for a recording'),
    endedAt: orNull(instantSchema('When it ended'), 'Null until it is stopped, completed or failed'),
  },
);
export type SessionTranscription = Static<typeof SessionTranscriptionSchema>;

/** Maximum participants, recordings and transcriptions in a returned session. Their own lists have all of them. */
export const MAX_SHOWN = 1000;

export const SessionDetailSchema = named(
  'SessionDetail',
  'A session with its participants, recordings and transcriptions',
  {
    ...sessionFields,
    recordings: Type.Array(RecordingSchema, {
      description: `Recordings that were started in it, oldest first; at most the first ${MAX_SHOWN}`,
    }),
    transcriptions: Type.Array(SessionTranscriptionSchema, {
      description: `Transcriptions of the room and of these recordings, oldest first; at most the first ${MAX_SHOWN}`,
    }),
    participants: Type.Array(SessionParticipantSchema, {
      description: `Presence of the participants, in the order in which they joined; at most the first ${MAX_SHOWN}`,
    }),
    participantsTruncated: Type.Optional(
      Type.Boolean({ description: 'True if there are more participants; their own list has all of them' }),
    ),
    recordingsTruncated: Type.Optional(
      Type.Boolean({ description: 'True if there are more recordings; their own list has all of them' }),
    ),
    transcriptionsTruncated: Type.Optional(
      Type.Boolean({ description: 'True if there are more transcriptions' }),
    ),
  },
);
export type SessionDetail = Static<typeof SessionDetailSchema>;

export const SessionListQuery = closedQuery({
  roomId: Type.Optional(nameSchema('Only sessions of this room', 'demo')),
  status: Type.Optional(
    Type.Enum(SESSION_STATUSES, { description: 'Only sessions that are open, or ended' }),
  ),
  since: optionalInstant('Only rooms opened since then', '2026-01-01T00:00:00.000Z'),
  until: optionalInstant(
    'Only rooms opened before then, so that consecutive months have each session once',
    '2026-02-01T00:00:00.000Z',
  ),
  ...PAGE,
});
export type SessionListQuery = Static<typeof SessionListQuery>;

export const SessionParticipantListSchema = named(
  'SessionParticipantList',
  'A page of the participants of a session',
  {
    participants: Type.Array(SessionParticipantSchema, {
      description: 'Their connections, in the order in which they joined',
    }),
    nextCursor,
  },
);
export type SessionParticipantList = Static<typeof SessionParticipantListSchema>;

export const SessionParticipantListQuery = closedQuery({
  limit: pageLimit(1000, 'default 200'),
  cursor: pageCursor(512),
});
export type SessionParticipantListQuery = Static<typeof SessionParticipantListQuery>;
