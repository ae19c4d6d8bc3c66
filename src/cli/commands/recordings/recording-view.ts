import { formatBytes } from '../../../contract/amounts.ts';
import type { Recording } from '../../../contract/recordings.ts';
import { type Column, instant, type RecordResult, record } from '../../terminal/result.ts';

export const RECORDING_FIELDS = [
  'recordingId',
  'roomId',
  'status',
  'startedAt',
  'mediaStartedAt',
  'stoppedAt',
  'endedAt',
  'durationMs',
  'sizeBytes',
  'error',
  'file',
] as const satisfies readonly (keyof Recording)[];

const ID: Column<Recording> = { heading: 'ID', value: ({ recordingId }) => recordingId };
const ROOM: Column<Recording> = { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' };
const STATUS: Column<Recording> = {
  heading: 'STATUS',
  value: ({ status }) => status,
  paint: ({ status }) => PAINT_OF_STATUS[status],
  display: (recording) => (isBeingWritten(recording) ? 'stopped, writing' : recording.status),
};
const STARTED = instantColumn('STARTED', ({ startedAt }) => startedAt);
const DURATION: Column<Recording> = {
  heading: 'DURATION',
  value: ({ durationMs }) => (durationMs === null ? undefined : { seconds: durationMs / 1000 }),
};
const SIZE: Column<Recording> = {
  heading: 'SIZE',
  value: ({ sizeBytes }) => sizeBytes ?? undefined,
  display: ({ sizeBytes }) => (sizeBytes === null ? '' : formatBytes(sizeBytes)),
};

const PAINT_OF_STATUS = {
  recording: 'active',
  stopped: undefined,
  aborted: 'warning',
  failed: 'bad',
} as const;

export const RECORDING_LIST: readonly Column<Recording>[] = [ID, ROOM, STATUS, STARTED, DURATION, SIZE];

const RECORDING_RECORD: readonly Column<Recording>[] = [
  ID,
  ROOM,
  STATUS,
  STARTED,
  instantColumn('MEDIA-STARTED', ({ mediaStartedAt }) => mediaStartedAt),
  instantColumn('STOPPED', ({ stoppedAt }) => stoppedAt),
  instantColumn('ENDED', ({ endedAt }) => endedAt),
  DURATION,
  SIZE,
  { heading: 'BUCKET', value: ({ file }) => file?.bucket ?? undefined },
  { heading: 'PATH', value: ({ file }) => file?.path },
  { heading: 'ERROR', value: ({ error }) => error ?? undefined },
];

export function recordingRecord(
  recording: Recording,
  more: Pick<RecordResult, 'notes' | 'exitCode'> = {},
): RecordResult {
  return record(recording, RECORDING_RECORD, more);
}

/** Returns whether the recording is stopped, but its file is not complete, or not known to be. */
export function isBeingWritten({ status, endedAt }: Recording): boolean {
  return status === 'stopped' && endedAt === null;
}

function instantColumn(heading: string, of: (recording: Recording) => string | null): Column<Recording> {
  return {
    heading,
    value: (recording) => instant(of(recording)),
  };
}
