import type { RtcClient } from '../../../client/client.ts';
import { formatBytes, plural } from '../../../contract/amounts.ts';
import type {
  Recording,
  RecordingStart,
  RecordingStatus,
  RecordingStop,
} from '../../../contract/recordings.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { CliError, EXIT, type ExitCode } from '../../errors/cli-error.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import {
  choice,
  defineCommand,
  existing,
  listOfExisting,
  ofNoun,
  option,
} from '../../framework/parameters.ts';
import { RECORDING_OPTIONS, readRecordingSettings } from '../../framework/plan-options.ts';
import { forEachTarget, nameSucceeded } from '../../framework/report-error.ts';
import { WAIT_OPTIONS, waitFor } from '../../framework/wait.ts';
import { type Column, instant, type Result, record } from '../../terminal/result.ts';
import { printHint, printStatus } from '../../terminal/terminal.ts';
import { download } from './download-command.ts';
import { isBeingWritten, RECORDING_FIELDS, RECORDING_LIST, recordingRecord } from './recording-view.ts';

const ROOM = existing('name of the room', 'rooms');

/** The response of a start. After a wait it has the time at which the media began. */
type Started = RecordingStart & { readonly mediaStartedAt?: string | null };

const START_FIELDS = [
  'egressId',
  'roomId',
  'status',
  'startedAt',
] as const satisfies readonly (keyof RecordingStart)[];

const START_COLUMNS: readonly Column<Started>[] = [
  { heading: 'ROOM', value: (start) => start.roomId, paint: 'name' },
  { heading: 'STATUS', value: (start) => start.status, paint: 'active' },
  { heading: 'EGRESS-ID', value: (start) => start.egressId },
  { heading: 'STARTED', value: (start) => ({ instantMs: Date.parse(start.startedAt) }) },
];

const start = defineCommand({
  verb: 'start',
  summary: 'Record a room',
  description:
    'If the room is already being recorded, the command succeeds and changes nothing. With --wait it returns when the first frame has been recorded.',
  fields: ({ wait }) => (wait ? [...START_FIELDS, 'mediaStartedAt'] : START_FIELDS),
  arguments: { room: ROOM },
  options: {
    ...RECORDING_OPTIONS,
    ...WAIT_OPTIONS,
  },
  examples: [
    { line: 'rtc recordings start demo', does: 'Starts the recorder' },
    {
      line: 'rtc recordings start demo --layout speaker --preset H264_1080P_30',
      does: 'The speaker large, in full HD',
    },
    { line: 'rtc recordings start demo --audio-only', does: 'Only the sound' },
    {
      line: 'rtc recordings start demo --record-tracks',
      does: 'With a transcript of everybody, even when people speak at once',
    },
    {
      line: 'rtc recordings start demo --wait --timeout 30s',
      does: 'Wait until the first frame is recorded',
    },
  ],
  async run(context, { room, wait, timeout, ...how }) {
    const client = await context.client();
    printHint(context.terminal, 'Starting a recorder, which may take some seconds …');
    const settings = readRecordingSettings(how);
    const started = await client.recordings.start(room, { ...settings, signal: context.io.signal });
    if (started.status === 'already_recording')
      printStatus(context.terminal, `${room} is already being recorded.`);
    const response: Started = wait
      ? { ...started, mediaStartedAt: await waitForMedia(context, started, timeout) }
      : started;
    return record(response, wait ? STARTED_COLUMNS : START_COLUMNS, {
      notes: [`Stop it: rtc recordings stop ${shellQuote(room)}`],
    });
  },
});

const STATUS_COLUMNS: readonly Column<RecordingStatus>[] = [
  {
    heading: 'RECORDING',
    value: (status) => status.isRecording,
    paint: (status) => (status.isRecording ? 'active' : undefined),
    display: (status) => (status.isRecording ? '● on' : 'off'),
  },
  { heading: 'EGRESS-ID', value: (status) => status.egressId ?? undefined },
  {
    heading: 'STARTED',
    value: ({ startedAt }) => instant(startedAt),
  },
  { heading: 'MEDIA-STARTED', value: ({ mediaStartedAt }) => instant(mediaStartedAt) },
];

const status = defineCommand({
  verb: 'status',
  summary: 'Show whether a room is being recorded',
  fields: ['isRecording', 'egressId', 'startedAt', 'mediaStartedAt'] satisfies (keyof RecordingStatus)[],
  arguments: { room: ROOM },
  examples: [
    { line: 'rtc recordings status demo', does: 'Whether it is recorded, and since when' },
    { line: 'rtc recordings status demo --json isRecording', does: 'For a script' },
  ],
  async run(context, { room }) {
    const response = await readStatus(context, room);
    return record(response, STATUS_COLUMNS);
  },
});

export const get = defineCommand({
  verb: 'get',
  summary: 'Show one recording',
  fields: RECORDING_FIELDS,
  arguments: { id: existing('id of the recording', 'recordings') },
  examples: [
    { line: 'rtc recordings get EG_tH8vdkRoTDWY', does: 'Its state, size, duration and file' },
    { line: 'rtc recordings get EG_tH8vdkRoTDWY --json error', does: 'Only why it failed, as JSON' },
  ],
  async run(context, { id }) {
    const client = await context.client();
    const recording = await client.recordings.get(id, { signal: context.io.signal });
    const next = recording.file === null ? [] : [`Download it: rtc recordings download ${id}`];
    return recordingRecord(recording, {
      notes: isBeingWritten(recording) ? ['Its file is still being written.'] : next,
    });
  },
});

const STARTED_COLUMNS: readonly Column<Started>[] = [
  ...START_COLUMNS,
  { heading: 'MEDIA-STARTED', value: ({ mediaStartedAt }) => instant(mediaStartedAt ?? null) },
];

const STOP_FIELDS = [
  'egressId',
  'roomId',
  'status',
  'stoppedAt',
] as const satisfies readonly (keyof RecordingStop)[];

const STOP_COLUMNS: readonly Column<RecordingStop>[] = [
  { heading: 'ROOM', value: (stop) => stop.roomId, paint: 'name' },
  { heading: 'STATUS', value: (stop) => stop.status },
  { heading: 'EGRESS-ID', value: (stop) => stop.egressId },
  { heading: 'STOPPED', value: (stop) => ({ instantMs: Date.parse(stop.stoppedAt) }) },
];

const stop = defineCommand({
  verb: 'stop',
  summary: 'Stop recording a room',
  description:
    'With --wait it returns when the file is complete. The exit code is then 1 if the recording failed, 7 if nothing was recorded, and 8 if the time is up.',
  fields: ({ wait }) => (wait ? RECORDING_FIELDS : STOP_FIELDS),
  arguments: { room: ROOM },
  options: WAIT_OPTIONS,
  examples: [
    { line: 'rtc recordings stop demo', does: 'Stops the recorder' },
    { line: 'rtc recordings stop demo --wait', does: 'Wait until the file is complete' },
  ],
  async run(context, { room, wait, timeout }) {
    const client = await context.client();
    const stopped = await client.recordings.stop(room, { signal: context.io.signal });
    if (wait) return await waitForFile(context, stopped, timeout);
    return record(stopped, STOP_COLUMNS, {
      notes: [`Its file is complete in a moment: rtc recordings download ${stopped.egressId}`],
    });
  },
});

const EXIT_OF_STATUS: Readonly<Record<Recording['status'], ExitCode>> = {
  recording: EXIT.success,
  stopped: EXIT.success,
  aborted: EXIT.negative,
  failed: EXIT.failure,
};

const STATUSES = [
  'recording',
  'stopped',
  'aborted',
  'failed',
] as const satisfies readonly Recording['status'][];

export const listRecordings = defineCommand({
  verb: 'list',
  summary: 'List recordings, newest first',
  fields: RECORDING_FIELDS,
  options: {
    room: option('--room <room>', 'only those of this room', { completes: 'rooms' }),
    status: option('--status <status>', 'only these', choice(STATUSES)),
    limit: LIMIT,
    watch: WATCH,
  },
  examples: [
    { line: 'rtc recordings list', does: 'The newest 50' },
    { line: 'rtc recordings list --room demo --status failed', does: 'What failed in one room' },
    { line: 'rtc recordings list --json recordingId,sizeBytes', does: 'Two fields, as JSON' },
    { line: 'rtc recordings list --watch', does: 'The same, updated live' },
  ],
  async run(context, { room, status, ...choice }) {
    const client = await context.client();
    const { signal } = context.io;
    return pagedList(context, choice, {
      name: 'recordings',
      read: (page) => client.recordings.list({ roomId: room, status, ...page, signal }),
      columns: RECORDING_LIST,
      identify: ({ recordingId }) => recordingId,
      empty: 'No recordings. Make one: rtc recordings start ROOM',
    });
  },
});

export const remove = defineCommand({
  verb: 'delete',
  summary: 'Delete recordings and their files',
  arguments: { ids: listOfExisting('id of the recording, or of several', 'recordings') },
  options: { yes: YES },
  examples: [
    { line: 'rtc recordings delete EG_tH8vdkRoTDWY', does: 'Asks first, and names what is lost' },
    {
      line: 'rtc recordings list --status failed | cut -f1 | xargs rtc recordings delete --yes',
      does: 'All that failed, without asking',
    },
  ],
  async run(context, { ids, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'deleting recordings',
      question: () => describeLoss(context, client, ids),
    });
    const deleted = await forEachTarget(context, ids, (id) =>
      client.recordings.delete(id, { signal: context.io.signal }),
    );
    return nameSucceeded(deleted, (names) => `Deleted ${names}.`);
  },
});

export const commands = ofNoun('recordings', [start, stop, status, listRecordings, get, download, remove]);

async function readStatus(context: Context, room: string): Promise<RecordingStatus> {
  const client = await context.client();
  return client.recordings.status(room, { signal: context.io.signal });
}

/** Waits for the first recorded frame. A recording that ends before it will never have one. */
async function waitForMedia(
  context: Context,
  { egressId, roomId }: RecordingStart,
  timeoutSeconds: number | undefined,
): Promise<string | null> {
  const client = await context.client();
  const { signal } = context.io;
  return waitFor(context, {
    what: `the first frame of ${roomId}`,
    timeoutSeconds,
    read: async () => {
      const { status, error, mediaStartedAt } = await client.recordings.get(egressId, { signal });
      if (status !== 'recording') throw endedEarly(egressId, status, error);
      return mediaStartedAt;
    },
    isReached: (mediaStartedAt) => mediaStartedAt !== null,
  });
}

function endedEarly(egressId: string, status: string, error: string | null): CliError {
  const reason = error === null ? '' : `: ${error}`;
  return new CliError(
    EXIT.failure,
    `the recording is ${status}${reason}`,
    `see: rtc recordings get ${egressId}`,
  );
}

/** Waits until the recording's file is complete, or until it is known that there will be none. */
async function waitForFile(
  context: Context,
  { egressId }: RecordingStop,
  timeoutSeconds: number | undefined,
): Promise<Result> {
  const client = await context.client();
  const recording = await waitFor(context, {
    what: `the file of ${egressId}`,
    timeoutSeconds,
    read: () => client.recordings.get(egressId, { signal: context.io.signal }),
    isReached: ({ endedAt }) => endedAt !== null,
  });
  if (recording.status === 'aborted')
    printStatus(context.terminal, 'No media arrived, so nothing was recorded.');
  return recordingRecord(recording, {
    exitCode: EXIT_OF_STATUS[recording.status],
    notes: recording.file === null ? [] : [`Download it: rtc recordings download ${egressId}`],
  });
}

async function describeLoss(context: Context, client: RtcClient, ids: readonly string[]): Promise<string> {
  const { signal } = context.io;
  let bytes = 0;
  const rooms = new Set<string>();
  for (const id of ids) {
    const { sizeBytes, roomId } = await client.recordings.get(id, { signal });
    bytes += sizeBytes ?? 0;
    rooms.add(roomId);
  }
  const what = ids.length === 1 ? `recording ${ids[0]}` : plural(ids.length, 'recording');
  const where = rooms.size === 1 ? `room ${[...rooms][0]}` : plural(rooms.size, 'room');
  const loss = bytes === 0 ? 'No file is lost' : `${formatBytes(bytes)} of video will be gone`;
  return `Delete ${what} of ${where}? ${loss}.`;
}
