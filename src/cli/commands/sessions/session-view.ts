import type { Session, SessionDetail, SessionParticipant } from '../../../contract/sessions.ts';
import { type Column, instant } from '../../terminal/result.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export const SESSION_FIELDS = [
  'sessionId',
  'roomId',
  'status',
  'createdAt',
  'startedAt',
  'endedAt',
  'metadata',
  'metadataBytes',
  'metadataSha256',
  'durationMs',
  'totalParticipants',
  'peakParticipants',
  'participantMinutes',
] as const satisfies readonly (keyof Session)[];

export const DETAIL_FIELDS = [
  ...SESSION_FIELDS,
  'recordings',
  'transcriptions',
  'participants',
  'participantsTruncated',
  'recordingsTruncated',
  'transcriptionsTruncated',
] as const satisfies readonly (keyof SessionDetail)[];

export const PARTICIPANT_FIELDS = [
  'sid',
  'identity',
  'name',
  'role',
  'joinedAt',
  'leftAt',
  'durationMs',
] as const satisfies readonly (keyof SessionParticipant)[];

const ID: Column<Session> = { heading: 'SESSION-ID', value: ({ sessionId }) => sessionId };
const ROOM: Column<Session> = { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' };
const STATUS: Column<Session> = {
  heading: 'STATUS',
  value: ({ status }) => status,
  paint: ({ status }) => (status === 'open' ? 'active' : undefined),
};
const OPENED: Column<Session> = { heading: 'OPENED', value: ({ createdAt }) => instant(createdAt) };
const STARTED: Column<Session> = { heading: 'STARTED', value: ({ startedAt }) => instant(startedAt) };
const ENDED: Column<Session> = { heading: 'ENDED', value: ({ endedAt }) => instant(endedAt) };
const DURATION: Column<Session> = { heading: 'DURATION', value: ({ durationMs }) => duration(durationMs) };
const PEOPLE: Column<Session> = { heading: 'PEOPLE', value: ({ totalParticipants }) => totalParticipants };
const PEAK: Column<Session> = { heading: 'PEAK', value: ({ peakParticipants }) => peakParticipants };
const MINUTES: Column<Session> = {
  heading: 'PARTICIPANT-MINUTES',
  value: ({ participantMinutes }) => participantMinutes,
};

const METADATA: Column<Session> = {
  heading: 'METADATA',
  value: ({ metadata, metadataBytes }) =>
    metadataBytes === undefined ? (metadata ?? undefined) : `${metadataBytes} bytes, which are not kept`,
};

const WIDE: readonly Column<Session>[] = [
  ID,
  ROOM,
  STATUS,
  OPENED,
  DURATION,
  PEOPLE,
  PEAK,
  { ...MINUTES, heading: 'MINUTES' },
];

const NARROW = [ID, ROOM, STATUS, OPENED, DURATION, PEOPLE];
const WIDE_COLUMNS = 96;

export function sessionColumns({ width = WIDE_COLUMNS }: Terminal): readonly Column<Session>[] {
  return width < WIDE_COLUMNS ? NARROW : WIDE;
}

export const SESSION_CSV: readonly Column<Session>[] = [
  ID,
  ROOM,
  STATUS,
  OPENED,
  STARTED,
  ENDED,
  { ...DURATION, heading: 'DURATION-SECONDS' },
  PEOPLE,
  PEAK,
  MINUTES,
  METADATA,
];

export const SESSION_RECORD: readonly Column<SessionDetail>[] = [
  ID,
  ROOM,
  STATUS,
  OPENED,
  STARTED,
  ENDED,
  DURATION,
  PEOPLE,
  PEAK,
  MINUTES,
  METADATA,
  { heading: 'WHO', value: who },
  {
    heading: 'RECORDINGS',
    value: ({ recordings }) => recordings.map(({ recordingId }) => recordingId).join(' '),
  },
  {
    heading: 'TRANSCRIPTIONS',
    value: ({ transcriptions }) => transcriptions.map(({ transcriptionId }) => transcriptionId).join(' '),
  },
];

const SID: Column<SessionParticipant> = { heading: 'SID', value: ({ sid }) => sid };

export const PARTICIPANT_LIST: readonly Column<SessionParticipant>[] = [
  { heading: 'IDENTITY', value: ({ identity }) => identity, paint: 'name' },
  { heading: 'NAME', value: ({ name }) => name },
  { heading: 'ROLE', value: ({ role }) => role ?? undefined },
  { heading: 'JOINED', value: ({ joinedAt }) => instant(joinedAt) },
  {
    heading: 'LEFT',
    value: ({ leftAt }) => instant(leftAt),
    paint: ({ leftAt }) => (leftAt === null ? 'active' : undefined),
  },
  { heading: 'DURATION', value: ({ durationMs }) => duration(durationMs) },
  SID,
];

/** Each line has the session, so that the files of several sessions can be joined. */
export function participantCsv({ sessionId, roomId }: Session): readonly Column<SessionParticipant>[] {
  return [
    { heading: ID.heading, value: () => sessionId },
    { heading: ROOM.heading, value: () => roomId },
    ...PARTICIPANT_LIST.map((column) =>
      column.heading === 'DURATION' ? { ...column, heading: 'DURATION-SECONDS' } : column,
    ),
  ];
}

const NAMED = 10;

/** The first participants in the order of joining, each identity once. */
function who({ participants, totalParticipants }: SessionDetail): string {
  const named = [...new Set(participants.map(({ identity }) => identity))].slice(0, NAMED);
  const more = totalParticipants - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function duration(ms: number) {
  return { seconds: ms / 1000 };
}
