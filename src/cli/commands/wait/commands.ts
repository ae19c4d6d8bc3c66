import type { Recording } from '../../../contract/recordings.ts';
import type { LiveTranscription, PostTranscriptionDetail } from '../../../contract/transcription.ts';
import { EXIT } from '../../errors/cli-error.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import { existing, oneOf, option } from '../../framework/parameters.ts';
import { RECORDING_FIELDS, recordingRecord } from '../recordings/recording-view.ts';
import {
  POST_DETAIL_FIELDS,
  postRecord,
  SEGMENT_FIELDS,
  segmentList,
} from '../transcription/transcript-view.ts';
import { waitForDelivery } from './delivery-command.ts';
import { followState } from './follow-state.ts';
import { waitForRoom } from './room-command.ts';
import { TIMEOUT } from './time-limit.ts';

const waitForRecording = defineCommand({
  noun: 'wait',
  verb: 'recording',
  summary: 'Wait until a recording has ended and its file is complete',
  description:
    'Exit codes: 0 if it ended in the state of --for, 7 if it ended in another one, 8 if it has not ended in time, 3 if there is no such recording.',
  needs: 'service',
  fields: RECORDING_FIELDS,
  arguments: { id: existing('id of the recording', 'recordings') },
  options: {
    for: option('--for <state>', 'default stopped', oneOf(['stopped', 'aborted', 'failed'])),
    timeout: TIMEOUT,
  },
  examples: [
    {
      line: 'rtc wait recording EG_tH8vdkRoTDWY --json file',
      does: 'Print where the file is, as soon as it is complete',
    },
    { line: 'rtc wait recording EG_tH8vdkRoTDWY --for stopped --timeout 1h', does: 'A long one' },
  ],
  async run(context, { id, for: wanted = 'stopped', timeout }) {
    const client = await context.client();
    const ended = await followState<Recording>(context, {
      what: `recording ${id} to be ${wanted}`,
      timeoutSeconds: timeout,
      types: ['egress_ended'],
      read: (signal) => client.recordings.get(id, { signal }),
      apply: (state, { recording }, read) => (recording?.egressId === id ? read() : state),
      isOver: ({ endedAt }) => endedAt !== null,
    });
    return recordingRecord(ended, { exitCode: ended.status === wanted ? EXIT.success : EXIT.negative });
  },
});

type Transcript = LiveTranscription | PostTranscriptionDetail;

const RUNNING: readonly Transcript['status'][] = ['active', 'queued', 'processing'];

const waitForTranscription = defineCommand({
  noun: 'wait',
  verb: 'transcription',
  summary: 'Wait until a transcription is complete',
  description:
    'Works for recordings and for live transcriptions; these are complete when they have been stopped. Exit codes: 0 if it ended in the state of --for, 7 if it ended in another one, 8 if it has not ended in time, 3 if there is no such transcription.',
  needs: 'service',
  fields: [...POST_DETAIL_FIELDS, ...SEGMENT_FIELDS],
  arguments: { id: existing('id of the transcription', 'transcriptions') },
  options: {
    for: option('--for <state>', 'default completed', oneOf(['completed', 'failed'])),
    timeout: TIMEOUT,
  },
  examples: [
    {
      line: 'rtc wait transcription tr_4bPp8Vi9S6DdAbCd --timeout 30m',
      does: 'Then read it: rtc transcriptions get ID --format srt',
    },
  ],
  async run(context, { id, for: wanted = 'completed', timeout }) {
    const client = await context.client();
    const ended = await followState<Transcript>(context, {
      what: `transcription ${id} to be ${wanted}`,
      timeoutSeconds: timeout,
      types: ['transcription_completed', 'transcription_failed'],
      read: (signal) => client.transcriptions.get(id, { signal }),
      apply: (state, { transcription }, read) => (transcription?.transcriptionId === id ? read() : state),
      isOver: ({ status }) => !RUNNING.includes(status),
    });
    const outcome = ended.status === 'failed' ? 'failed' : 'completed';
    const exitCode = outcome === wanted ? EXIT.success : EXIT.negative;
    return 'recordingId' in ended
      ? { ...postRecord(ended), exitCode }
      : { ...segmentList(ended, { empty: 'Nothing was said.', notes: [] }), exitCode };
  },
});

export const commands: readonly Command[] = [
  waitForRoom,
  waitForRecording,
  waitForTranscription,
  waitForDelivery,
];
