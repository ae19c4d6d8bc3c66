import type { TranscriptHit } from '../../../contract/words.ts';
import { defineCommand } from '../../framework/command.ts';
import { pagedList } from '../../framework/lists/paged-list.ts';
import { LIMIT } from '../../framework/lists/read-pages.ts';
import { listArgument, notEmpty, option } from '../../framework/parameters.ts';
import { pastMoment } from '../../framework/past-moment.ts';
import type { Column } from '../../terminal/result.ts';
import { readSourceLines } from '../../terminal/source-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { formatClock } from '../transcription/transcript-view.ts';

export const search = defineCommand({
  noun: 'transcriptions',
  verb: 'search',
  summary: 'Search all transcripts',
  description:
    'Searches live transcriptions and those of recordings. Finds segments that contain all of the words, in upper or lower case. There is no search syntax: every character is text. The newest segment comes first.',
  needs: 'service',
  fields: ['kind', 'roomId', 'recordingId', 'segment', 'highlighted'],
  arguments: { words: listArgument('words to search for; - reads them from stdin') },
  options: {
    room: option('--room <room>', 'only in this room', { parse: notEmpty, completes: 'rooms' }),
    recording: option('--recording <id>', 'only in this recording', { parse: notEmpty }),
    language: option('--language <tag>', 'only in this language (BCP 47); en finds en-US too', {
      parse: notEmpty,
    }),
    since: option('--since <time>', 'only what was said since then: 10m, 7d or an instant', {
      parse: pastMoment,
    }),
    until: option('--until <time>', 'only what was said before then: 10m, 7d or an instant', {
      parse: pastMoment,
    }),
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

function columnsFor({ width = WIDE_COLUMNS }: Terminal): readonly Column<TranscriptHit>[] {
  return width < WIDE_COLUMNS ? COLUMNS : [ID, ...COLUMNS];
}
