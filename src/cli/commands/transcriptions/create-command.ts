import { RtcError } from '../../../client/rtc-error.ts';
import type { PostQueue, PostQueued, PostTranscriptionDetail } from '../../../contract/transcription.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { existing } from '../../framework/parameters.ts';
import { WAIT_OPTIONS, waitFor } from '../../framework/wait.ts';
import { type Column, record } from '../../terminal/result.ts';
import { printHint } from '../../terminal/terminal.ts';
import { readTranscript } from '../transcription/read-transcript.ts';
import { FORMAT, LANGUAGE, parseSpeakers, SPEAKERS } from '../transcription/transcript-options.ts';
import { POST_DETAIL_FIELDS, postRecord } from '../transcription/transcript-view.ts';

const QUEUED_FIELDS = [
  'transcriptionId',
  'recordingId',
  'status',
  'queuedAt',
] as const satisfies readonly (keyof PostQueued)[];

const QUEUED: readonly Column<PostQueued>[] = [
  { heading: 'ID', value: ({ transcriptionId }) => transcriptionId },
  { heading: 'RECORDING', value: ({ recordingId }) => recordingId },
  { heading: 'STATUS', value: ({ status }) => status },
  { heading: 'QUEUED', value: ({ queuedAt }) => ({ instantMs: Date.parse(queuedAt) }) },
];

export const create = defineCommand({
  noun: 'transcriptions',
  verb: 'create',
  summary: 'Transcribe a recording',
  description:
    'Needs a running worker (rtc worker stt-post). A recording keeps an existing transcription in this language, unless that failed. With --wait the exit code is 1 if the transcription fails, and 8 if the time is up.',
  needs: 'service',
  fields: ({ wait, format }) => (wait ? (format === undefined ? POST_DETAIL_FIELDS : []) : QUEUED_FIELDS),
  arguments: { recording: existing('id of the recording', 'recordings'), speakers: SPEAKERS },
  options: { language: LANGUAGE, format: FORMAT, ...WAIT_OPTIONS },
  examples: [
    { line: 'rtc transcriptions create EG_tH8vdkRoTDWY', does: 'Queue it' },
    {
      line: 'rtc transcriptions create EG_tH8vdkRoTDWY --wait --timeout 30m --format srt > call.srt',
      does: 'Wait for the subtitles',
    },
  ],
  async run(context, { recording, speakers, language, format, wait, timeout }) {
    const body: PostQueue = {
      ...(language === undefined ? {} : { language }),
      ...(speakers.length === 0 ? {} : { participants: parseSpeakers(speakers) }),
    };
    if (!wait) {
      const client = await context.client();
      const queued = await client.transcriptions.create(recording, body, { signal: context.io.signal });
      return record({
        response: queued,
        record: queued,
        columns: QUEUED,
        notes: [
          `Read it when it is completed: rtc transcriptions get ${queued.transcriptionId} --format text`,
        ],
      });
    }
    const limits = { timeoutSeconds: timeout, sinceMs: context.io.clock() };
    const { transcriptionId } = await queueWithRetry(context, recording, { body, ...limits });
    const ended = await waitUntilEnded(context, transcriptionId, limits);
    if (ended.status === 'failed') throw transcriptionError(ended);
    return format === undefined ? postRecord(ended) : await readTranscript(context, transcriptionId, format);
  },
});

/** One limit for both waits: for the file, and then for the transcription. */
type WaitLimits = { readonly timeoutSeconds: number | undefined; readonly sinceMs: number };

type Queue = WaitLimits & { readonly body: PostQueue };

/** Queues the transcription. The file of a recording that was just stopped is still being written, and is awaited too. */
async function queueWithRetry(
  context: Context,
  recording: string,
  { body, ...limits }: Queue,
): Promise<PostQueued> {
  const client = await context.client();
  const { signal } = context.io;
  const queued = await waitFor<PostQueued | undefined>(context, {
    what: `the file of ${recording} to be complete`,
    ...limits,
    read: async () => {
      try {
        return await client.transcriptions.create(recording, body, { signal });
      } catch (error) {
        if (!(error instanceof RtcError) || error.code !== 'recording-not-finished') throw error;
        const { status } = await client.recordings.get(recording, { signal });
        if (status === 'recording') throw error;
        return undefined;
      }
    },
    isReached: (value) => value !== undefined,
  });
  if (queued === undefined) {
    throw new CliError(
      EXIT.failure,
      `${recording} was not queued`,
      `see: rtc transcriptions list --recording ${recording}`,
    );
  }
  return queued;
}

async function waitUntilEnded(
  context: Context,
  id: string,
  limits: WaitLimits,
): Promise<PostTranscriptionDetail> {
  const client = await context.client();
  let shown = -1;
  return await waitFor(context, {
    what: `${id} to be completed`,
    ...limits,
    read: async () => {
      const read = await client.transcriptions.get(id, { signal: context.io.signal });
      const transcription = read as PostTranscriptionDetail;
      const tenth = Math.floor(transcription.progress * 10);
      if (tenth > shown) printHint(context.terminal, `${transcription.status}, ${tenth * 10} % …`);
      shown = Math.max(shown, tenth);
      return transcription;
    },
    isReached: ({ status }) => status === 'completed' || status === 'failed',
  });
}

function transcriptionError({ transcriptionId, error }: PostTranscriptionDetail): CliError {
  const why = error === null ? '' : `: ${error.message} (${error.code})`;
  return new CliError(
    EXIT.failure,
    `the transcription ${transcriptionId} failed${why}`,
    'correct the cause, and create the transcription again',
  );
}
