import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import { plural } from '../../../contract/amounts.ts';
import { POST_STATUSES } from '../../../contract/choices.ts';
import type { PostQueue, PostQueued, PostTranscriptionDetail } from '../../../contract/transcription.ts';
import type { TranscriptHit } from '../../../contract/words.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import { WATCH, YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import {
  choice,
  defineCommand,
  existing,
  listArgument,
  listOfExisting,
  ofNoun,
  option,
} from '../../framework/parameters.ts';
import { parseSpeakers } from '../../framework/plan-options.ts';
import { forEachTarget, nameSucceeded } from '../../framework/report-error.ts';
import { WAIT_OPTIONS, waitFor } from '../../framework/wait.ts';
import { type Column, record } from '../../terminal/result.ts';
import { readSourceLines } from '../../terminal/source-text.ts';
import { printHint, type Terminal } from '../../terminal/terminal.ts';
import { pastMoment } from '../../terminal/time.ts';
import { FORMAT, LANGUAGE, readTranscript, SPEAKERS } from '../transcription/transcript-options.ts';
import {
  formatClock,
  POST_DETAIL_FIELDS,
  POST_FIELDS,
  POST_LIST,
  postRecord,
  SEGMENT_FIELDS,
  segmentList,
} from '../transcription/transcript-view.ts';

const listTranscriptions = defineCommand({
  verb: 'list',
  summary: 'List the transcriptions of recordings, newest first',
  fields: POST_FIELDS,
  options: {
    room: option('--room <room>', 'only those of this room', { completes: 'rooms' }),
    recording: option('--recording <id>', 'only those of this recording'),
    status: option('--status <status>', 'only these', choice(POST_STATUSES)),
    limit: LIMIT,
    watch: WATCH,
  },
  examples: [
    { line: 'rtc transcriptions list', does: 'The newest 50' },
    { line: 'rtc transcriptions list --status processing --watch', does: 'Watch the progress' },
  ],
  async run(context, { room, recording, status, ...choice }) {
    const client = await context.client();
    const query = { roomId: room, recordingId: recording, status, signal: context.io.signal };
    return pagedList(context, choice, {
      name: 'transcriptions',
      read: (page) => client.transcriptions.list({ ...query, ...page }),
      columns: POST_LIST,
      identify: ({ transcriptionId }) => transcriptionId,
      empty: 'No transcription of a recording is listed. Make one: rtc transcriptions create RECORDING',
    });
  },
});

const get = defineCommand({
  verb: 'get',
  summary: 'Show one transcription',
  fields: ({ format }) => (format === undefined ? [...POST_DETAIL_FIELDS, ...SEGMENT_FIELDS] : []),
  arguments: { id: existing('id of the transcription', 'transcriptions') },
  options: { format: FORMAT },
  examples: [
    { line: 'rtc transcriptions get tr_4bPp8Vi9S6DdAbCd', does: 'Its state' },
    { line: 'rtc transcriptions get tr_4bPp8Vi9S6DdAbCd --format srt > call.srt', does: 'What was said' },
  ],
  async run(context, { id, format }) {
    if (format !== undefined) return await readTranscript(context, id, format);
    const client = await context.client();
    const transcription = await client.transcriptions.get(id, { signal: context.io.signal });
    // A live transcription has no state without its text.
    if (!('recordingId' in transcription)) {
      return segmentList(transcription, { empty: 'Nothing was said.', notes: [] });
    }
    const isRead = transcription.segments.length > 0;
    return postRecord(transcription, {
      notes: [
        ...(isRead ? [`Read it: rtc transcriptions get ${id} --format text`] : []),
        ...(transcription.warnings ?? []).map(({ detail }) => detail),
      ],
    });
  },
});

const remove = defineCommand({
  verb: 'delete',
  summary: 'Delete transcriptions with their segments',
  arguments: { ids: listOfExisting('id of the transcription, or of several', 'transcriptions') },
  options: { yes: YES },
  examples: [{ line: 'rtc transcriptions delete tr_4bPp8Vi9S6DdAbCd', does: 'Asks first' }],
  async run(context, { ids, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'deleting transcriptions',
      question: () => describeLoss(context, client, ids),
    });
    const deleted = await forEachTarget(context, ids, (id) =>
      client.transcriptions.delete(id, { signal: context.io.signal }),
    );
    return nameSucceeded(deleted, (names) => `Deleted ${names}.`);
  },
});

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
  verb: 'create',
  summary: 'Transcribe a recording',
  description:
    'Needs a running worker (rtc worker stt-post). A recording keeps an existing transcription in this language, unless that failed. With --wait the exit code is 1 if the transcription fails, and 8 if the time is up.',
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
      return record(queued, QUEUED, {
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

export const search = defineCommand({
  verb: 'search',
  summary: 'Search all transcripts',
  description:
    'Searches live transcriptions and those of recordings. Finds segments that contain all of the words, in upper or lower case. There is no search syntax: every character is text. The newest segment comes first.',
  fields: ['kind', 'roomId', 'recordingId', 'segment', 'highlighted'],
  arguments: { words: listArgument('words to search for; - reads them from stdin') },
  options: {
    room: option('--room <room>', 'only in this room', { completes: 'rooms' }),
    recording: option('--recording <id>', 'only in this recording'),
    language: option('--language <tag>', 'only in this language (BCP 47); en finds en-US too'),
    since: option('--since <time>', 'only what was said since then: 10m, 7d or an instant', pastMoment),
    until: option('--until <time>', 'only what was said before then: 10m, 7d or an instant', pastMoment),
    limit: LIMIT,
  },
  examples: [
    { line: 'rtc transcriptions search budget meeting', does: 'The last 50 segments with both words' },
    { line: 'rtc transcriptions search invoice --room demo --since 7d', does: 'In one room, this week' },
    {
      line: 'rtc transcriptions search invoice --json segment | jq .',
      does: 'With times, speakers and ids',
    },
  ],
  async run(context, { words, room, recording, language, since, until, limit }) {
    const text = (await readSourceLines(context.io, words)).join(' ');
    const client = await context.client();
    const nowMs = context.io.clock();
    const filter = { roomId: room, recordingId: recording, language };
    const times = { since: since?.(nowMs), until: until?.(nowMs) };
    const { signal } = context.io;
    return pagedList(
      context,
      { limit },
      {
        name: 'hits',
        read: (page) => client.transcriptions.search(text, { ...filter, ...times, ...page, signal }),
        columns: columnsFor(context.terminal),
        identify: ({ segment }) => segment.id,
        isWrapped: true,
        empty: 'Nothing was found.',
        notes: ([first]) =>
          first === undefined
            ? []
            : [`Read all of one: rtc transcriptions get ${first.segment.transcriptionId} --format text`],
      },
    );
  },
});

const ID: Column<TranscriptHit> = {
  heading: 'TRANSCRIPTION',
  value: ({ segment }) => segment.transcriptionId,
};

const COLUMNS: readonly Column<TranscriptHit>[] = [
  { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' },
  { heading: 'SAID', value: ({ segment }) => ({ instantMs: Date.parse(segment.startedAt) }) },
  {
    heading: 'START',
    value: ({ segment }) => segment.start,
    display: ({ segment }) => formatClock(segment.start),
  },
  { heading: 'SPEAKER', value: ({ segment }) => segment.speaker ?? undefined },
  {
    heading: 'TEXT',
    value: ({ segment }) => segment.text,
    display: ({ highlighted }) => highlighted.map(({ text, match }) => (match ? `[${text}]` : text)).join(''),
  },
];

/** On a narrower terminal the id would leave no space for the text. */
const WIDE_COLUMNS = 120;

export const commands = ofNoun('transcriptions', [create, listTranscriptions, get, search, remove]);

async function describeLoss(context: Context, client: RtcClient, ids: readonly string[]): Promise<string> {
  let segments = 0;
  for (const id of ids) {
    segments += (await client.transcriptions.get(id, { signal: context.io.signal })).segments.length;
  }
  const what = ids.length === 1 ? `transcription ${ids[0]}` : plural(ids.length, 'transcription');
  return `Delete ${what}? ${plural(segments, 'segment')} of text will be deleted.`;
}

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

function columnsFor({ width = WIDE_COLUMNS }: Terminal): readonly Column<TranscriptHit>[] {
  return width < WIDE_COLUMNS ? COLUMNS : [ID, ...COLUMNS];
}
