import { RECORDING_LAYOUTS, RECORDING_PRESETS } from '../../../contract/choices.ts';
import type {
  Recording,
  RecordingStart,
  RecordingStatus,
  RecordingStop,
} from '../../../contract/recordings.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { CliError, EXIT, type ExitCode } from '../../errors/cli-error.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { existing, flag, oneOf, option } from '../../framework/parameters.ts';
import { WAIT_OPTIONS, waitFor } from '../../framework/wait.ts';
import { type Column, type Result, record } from '../../terminal/result.ts';
import { printHint, printStatus } from '../../terminal/terminal.ts';
import { download } from './download-command.ts';
import { get, listRecordings, remove } from './library-commands.ts';
import { RECORDING_FIELDS, recordingRecord } from './recording-view.ts';

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

const STARTED_COLUMNS: readonly Column<Started>[] = [
  ...START_COLUMNS,
  { heading: 'MEDIA-STARTED', value: ({ mediaStartedAt }) => instantOrNothing(mediaStartedAt ?? null) },
];

const start = defineCommand({
  noun: 'recordings',
  verb: 'start',
  summary: 'Record a room',
  description:
    'If the room is already being recorded, the command succeeds and changes nothing. With --wait it returns when the first frame has been recorded.',
  needs: 'service',
  fields: ({ wait }) => (wait ? [...START_FIELDS, 'mediaStartedAt'] : START_FIELDS),
  arguments: { room: ROOM },
  options: {
    layout: option('--layout <layout>', 'arrangement of the people; default grid', oneOf(RECORDING_LAYOUTS)),
    preset: option(
      '--preset <preset>',
      'size and frames per second; default H264_720P_30',
      oneOf(RECORDING_PRESETS),
    ),
    audioOnly: flag('--audio-only', 'record sound only'),
    recordTracks: flag('--record-tracks', "also keep each participant's speech, for the transcript"),
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
  async run(context, { room, layout, preset, audioOnly, recordTracks, wait, timeout }) {
    const client = await context.client();
    printHint(context.terminal, 'Starting a recorder, which may take some seconds …');
    const settings = {
      ...{ layout, preset },
      audioOnly: audioOnly || undefined,
      recordTracks: recordTracks || undefined,
    };
    const started = await client.recordings.start(room, { ...settings, signal: context.io.signal });
    if (started.status === 'already_recording')
      printStatus(context.terminal, `${room} is already being recorded.`);
    const response: Started = wait
      ? { ...started, mediaStartedAt: await waitForMedia(context, started, timeout) }
      : started;
    return record({
      response,
      record: response,
      columns: wait ? STARTED_COLUMNS : START_COLUMNS,
      notes: [`Stop it: rtc recordings stop ${shellQuote(room)}`],
    });
  },
});

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
  noun: 'recordings',
  verb: 'stop',
  summary: 'Stop recording a room',
  description:
    'With --wait it returns when the file is complete. The exit code is then 1 if the recording failed, 7 if nothing was recorded, and 8 if the time is up.',
  needs: 'service',
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
    return record({
      response: stopped,
      record: stopped,
      columns: STOP_COLUMNS,
      notes: [`Its file is complete in a moment: rtc recordings download ${stopped.egressId}`],
    });
  },
});

function instantOrNothing(instant: string | null) {
  return instant === null ? undefined : { instantMs: Date.parse(instant) };
}

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
    value: ({ startedAt }) => instantOrNothing(startedAt),
  },
  { heading: 'MEDIA-STARTED', value: ({ mediaStartedAt }) => instantOrNothing(mediaStartedAt) },
];

const status = defineCommand({
  noun: 'recordings',
  verb: 'status',
  summary: 'Show whether a room is being recorded',
  needs: 'service',
  fields: ['isRecording', 'egressId', 'startedAt', 'mediaStartedAt'] satisfies (keyof RecordingStatus)[],
  arguments: { room: ROOM },
  options: {},
  examples: [
    { line: 'rtc recordings status demo', does: 'Whether it is recorded, and since when' },
    { line: 'rtc recordings status demo --json isRecording', does: 'For a script' },
  ],
  async run(context, { room }) {
    const response = await readStatus(context, room);
    return record({
      response,
      record: response,
      columns: STATUS_COLUMNS,
    });
  },
});

export const commands: readonly Command[] = [start, stop, status, listRecordings, get, download, remove];

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

const EXIT_OF_STATUS: Readonly<Record<Recording['status'], ExitCode>> = {
  recording: EXIT.success,
  stopped: EXIT.success,
  aborted: EXIT.negative,
  failed: EXIT.failure,
};

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
