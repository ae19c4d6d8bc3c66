import { shellQuote } from '../../../contract/shell-quote.ts';
import type { LiveStart, LiveStarted, LiveStopped } from '../../../contract/transcription.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import { existing, flag, listArgument } from '../../framework/parameters.ts';
import { type Column, done, record, text } from '../../terminal/result.ts';
import { follow } from './follow-command.ts';
import { transcriptText } from './read-transcript.ts';
import {
  FORMAT,
  LANGUAGE,
  parseSpeakerChanges,
  parseSpeakers,
  SINCE,
  SPEAKERS,
} from './transcript-options.ts';
import { SEGMENT_FIELDS, segmentList } from './transcript-view.ts';

const ROOM = existing('name of the room', 'rooms');

const STARTED: readonly Column<LiveStarted>[] = [
  { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' },
  { heading: 'STATUS', value: ({ status }) => status, paint: 'active' },
  { heading: 'LANGUAGE', value: ({ language }) => language },
  { heading: 'ID', value: ({ transcriptionId }) => transcriptionId },
  { heading: 'STARTED', value: ({ startedAt }) => ({ instantMs: Date.parse(startedAt) }) },
];

const start = defineCommand({
  noun: 'transcription',
  verb: 'start',
  summary: 'Transcribe a room live',
  description:
    'Needs a running worker (rtc worker stt-live). If the room is already being transcribed, the command succeeds and changes nothing.',
  needs: 'service',
  fields: ['transcriptionId', 'roomId', 'status', 'language', 'startedAt'] satisfies (keyof LiveStarted)[],
  arguments: { room: ROOM, speakers: SPEAKERS },
  options: {
    language: LANGUAGE,
    partialResults: flag('--partial-results', 'show captions before a sentence has ended'),
    withoutCaptions: flag('--without-captions', 'send no captions to the people in the room'),
    withoutPunctuation: flag('--without-punctuation', 'remove punctuation and capitals'),
    profanityFilter: flag('--profanity-filter', 'mask profanity with asterisks'),
  },
  examples: [
    { line: 'rtc transcription start demo', does: 'In English' },
    { line: 'rtc transcription start demo --language it ada=Ada bob=Bob', does: 'In Italian, with names' },
  ],
  async run(context, { room, speakers, language, ...given }) {
    const client = await context.client();
    const body: LiveStart = {
      ...(language === undefined ? {} : { language }),
      ...(speakers.length === 0 ? {} : { participants: parseSpeakers(speakers) }),
      options: {
        partialResults: given.partialResults,
        captions: !given.withoutCaptions,
        punctuation: !given.withoutPunctuation,
        profanityFilter: given.profanityFilter,
      },
    };
    const started = await client.transcription.start(room, body, { signal: context.io.signal });
    return record({
      response: started,
      record: started,
      columns: STARTED,
      notes: [
        `Follow it: rtc transcription follow ${shellQuote(room)}`,
        `Stop it: rtc transcription stop ${shellQuote(room)}`,
      ],
    });
  },
});

const STOPPED: readonly Column<LiveStopped>[] = [
  { heading: 'ID', value: ({ transcriptionId }) => transcriptionId },
  { heading: 'STATUS', value: ({ status }) => status },
  { heading: 'SEGMENTS', value: ({ segmentCount }) => segmentCount },
  { heading: 'STOPPED', value: ({ stoppedAt }) => ({ instantMs: Date.parse(stoppedAt) }) },
];

const stop = defineCommand({
  noun: 'transcription',
  verb: 'stop',
  summary: 'Stop transcribing a room',
  needs: 'service',
  fields: ['transcriptionId', 'status', 'stoppedAt', 'segmentCount'] satisfies (keyof LiveStopped)[],
  arguments: { room: ROOM },
  options: {},
  examples: [{ line: 'rtc transcription stop demo', does: 'Stop; the transcript is kept' }],
  async run(context, { room }) {
    const client = await context.client();
    const stopped = await client.transcription.stop(room, { signal: context.io.signal });
    return record({
      response: stopped,
      record: stopped,
      columns: STOPPED,
      notes: [`Read it: rtc transcription get ${shellQuote(room)} --format text`],
    });
  },
});

const get = defineCommand({
  noun: 'transcription',
  verb: 'get',
  summary: 'Show what was said in a room',
  description: 'Shows the running transcription, or else the last one. Works after the room has ended, too.',
  needs: 'service',
  fields: ({ format }) => (format === undefined ? SEGMENT_FIELDS : []),
  arguments: { room: ROOM },
  options: { format: FORMAT, since: SINCE },
  examples: [
    { line: 'rtc transcription get demo', does: 'As a table' },
    { line: 'rtc transcription get demo --format vtt > demo.vtt', does: 'As captions for a player' },
    { line: 'rtc transcription get demo --since 10m', does: 'The last ten minutes' },
  ],
  async run(context, { room, format, since: moment }) {
    const client = await context.client();
    const since = moment?.(context.io.clock());
    const options = { since, signal: context.io.signal };
    if (format !== undefined && format !== 'json') {
      return transcriptText(await client.transcription.text(room, format, options));
    }
    const transcription = await client.transcription.get(room, options);
    if (format === 'json') return text(JSON.stringify(transcription), { response: transcription });
    const empty = `Nothing has been said in ${room} ${since === undefined ? 'yet' : `after ${since}`}.`;
    // A service of an earlier version sends no error.
    const error = transcription.error ?? null;
    return segmentList(transcription, {
      empty,
      notes: error === null ? [] : [`The transcription has failed: ${error.message}`],
    });
  },
});

const speakers = defineCommand({
  noun: 'transcription',
  verb: 'speakers',
  summary: 'Name the speakers of a room',
  description: 'The names also appear in past segments. An empty name (ada=) removes a name.',
  needs: 'service',
  arguments: { room: ROOM, names: listArgument('KEY=NAME; the key is a track id or an identity') },
  options: {},
  examples: [
    { line: 'rtc transcription speakers demo ada="Ada Lovelace"', does: 'By identity' },
    { line: 'rtc transcription speakers demo ada=', does: 'Back to the participant’s own name' },
  ],
  async run(context, { room, names }) {
    const changes = parseSpeakerChanges(names);
    const client = await context.client();
    await client.transcription.nameSpeakers(room, changes, { signal: context.io.signal });
    return done(`Named ${Object.keys(changes).join(', ')} in ${room}.`);
  },
});

export const commands: readonly Command[] = [start, stop, get, follow, speakers];
