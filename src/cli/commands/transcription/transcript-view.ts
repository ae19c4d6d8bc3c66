import type {
  LiveTranscription,
  PostTranscription,
  PostTranscriptionDetail,
  Segment,
} from '../../../contract/transcription.ts';
import {
  type Column,
  instant,
  type ListResult,
  list,
  type RecordResult,
  record,
} from '../../terminal/result.ts';

const SEGMENT_COLUMNS: readonly Column<Segment>[] = [
  { heading: 'START', value: ({ start }) => start, display: ({ start }) => formatClock(start) },
  { heading: 'SPEAKER', value: ({ speaker }) => speaker ?? undefined, paint: 'name' },
  {
    heading: 'TEXT',
    value: ({ text }) => text,
    display: ({ text, overlap }) => (overlap === true ? `${text} [overlap]` : text),
  },
];

/** Lists one row for each segment; --json prints the whole response. */
export function segmentList(
  transcription: LiveTranscription | PostTranscriptionDetail,
  { empty, notes = [] }: Pick<ListResult, 'empty' | 'notes'>,
): ListResult {
  return list({
    response: transcription,
    records: transcription.segments,
    columns: SEGMENT_COLUMNS,
    identify: ({ id }) => id,
    isWrapped: true,
    empty,
    notes: [...notes, ...(transcription.warnings ?? []).map(({ detail }) => detail)],
  });
}

export const SEGMENT_FIELDS = [
  'id',
  'transcriptionId',
  'trackId',
  'participantIdentity',
  'speaker',
  'text',
  'language',
  'start',
  'end',
  'startedAt',
  'endedAt',
  'final',
  'confidence',
  'overlap',
] as const satisfies readonly (keyof Segment)[];

/** Formats `1:02:03`, or `2:03`. */
export function formatClock(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export const POST_FIELDS = [
  'transcriptionId',
  'recordingId',
  'roomId',
  'status',
  'language',
  'participants',
  'progress',
  'queuedAt',
  'startedAt',
  'completedAt',
  'durationMs',
  'error',
] as const satisfies readonly (keyof PostTranscription)[];

export const POST_DETAIL_FIELDS = [...POST_FIELDS, 'segments'] as const;

const PAINT_OF_STATUS = {
  queued: undefined,
  processing: 'active',
  completed: undefined,
  failed: 'bad',
} as const;

const ID: Column<PostTranscription> = { heading: 'ID', value: ({ transcriptionId }) => transcriptionId };
const RECORDING: Column<PostTranscription> = {
  heading: 'RECORDING',
  value: ({ recordingId }) => recordingId,
};
const ROOM: Column<PostTranscription> = { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' };
const STATUS: Column<PostTranscription> = {
  heading: 'STATUS',
  value: ({ status }) => status,
  paint: ({ status }) => PAINT_OF_STATUS[status],
  display: ({ status, progress }) =>
    status === 'processing' ? `processing, ${Math.floor(progress * 100)} %` : status,
};
const LANGUAGE: Column<PostTranscription> = { heading: 'LANGUAGE', value: ({ language }) => language };
const QUEUED: Column<PostTranscription> = {
  heading: 'QUEUED',
  value: ({ queuedAt }) => ({ instantMs: Date.parse(queuedAt) }),
};

export const POST_LIST: readonly Column<PostTranscription>[] = [
  ID,
  RECORDING,
  ROOM,
  STATUS,
  LANGUAGE,
  QUEUED,
];

const POST_RECORD: readonly Column<PostTranscription>[] = [
  ...POST_LIST,
  { heading: 'STARTED', value: ({ startedAt }) => instant(startedAt) },
  { heading: 'COMPLETED', value: ({ completedAt }) => instant(completedAt) },
  { heading: 'PROGRESS', value: ({ progress }) => progress },
  {
    heading: 'DURATION',
    value: ({ durationMs }) => (durationMs === null ? undefined : { seconds: durationMs / 1000 }),
  },
  {
    heading: 'ERROR',
    value: ({ error }) => (error === null ? undefined : `${error.code}: ${error.message}`),
  },
];

/** The state of a transcription, without its text. */
export function postRecord(
  transcription: PostTranscription,
  more: Pick<RecordResult, 'notes' | 'exitCode'> = {},
): RecordResult {
  return record(transcription, POST_RECORD, more);
}
