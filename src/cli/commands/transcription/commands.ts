import { plural } from '../../../contract/amounts.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import {
  LIVE_STATES,
  type LiveStart,
  type LiveStarted,
  type LiveStopped,
  type LiveSummary,
  type LiveTranscription,
  type Segment,
} from '../../../contract/transcription.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import { WATCH } from '../../framework/common-options.ts';
import { interruptionNotes } from '../../framework/interruption-notes.ts';
import { LIMIT, pagedList } from '../../framework/lists/read-pages.ts';
import { choice, defineCommand, existing, listArgument, ofNoun, option } from '../../framework/parameters.ts';
import { LIVE_OPTIONS, parseSpeakers } from '../../framework/plan-options.ts';
import { jsonLine, select } from '../../terminal/output.ts';
import { type Column, done, instant, nothing, record, text } from '../../terminal/result.ts';
import { escapeForTerminal, printHint, type Terminal } from '../../terminal/terminal.ts';
import {
  FORMAT,
  LANGUAGE,
  parseSpeakerChanges,
  SINCE,
  SPEAKERS,
  transcriptText,
} from './transcript-options.ts';
import { formatClock, SEGMENT_FIELDS, segmentList } from './transcript-view.ts';

const ROOM = existing('name of the room', 'rooms');

const STARTED: readonly Column<LiveStarted>[] = [
  { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' },
  { heading: 'STATUS', value: ({ status }) => status, paint: 'active' },
  { heading: 'LANGUAGE', value: ({ language }) => language },
  { heading: 'ID', value: ({ transcriptionId }) => transcriptionId },
  { heading: 'STARTED', value: ({ startedAt }) => ({ instantMs: Date.parse(startedAt) }) },
];

const speakers = defineCommand({
  verb: 'speakers',
  summary: 'Name the speakers of a room',
  description: 'The names also appear in past segments. An empty name (ada=) removes a name.',
  arguments: { room: ROOM, names: listArgument('KEY=NAME; the key is a track id or an identity') },
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

const LIVE_FIELDS = [
  'transcriptionId',
  'roomId',
  'status',
  'language',
  'startedAt',
  'stoppedAt',
  'error',
] as const satisfies readonly (keyof LiveSummary)[];

const LIVE_LIST: readonly Column<LiveSummary>[] = [
  { heading: 'ROOM', value: ({ roomId }) => roomId, paint: 'name' },
  {
    heading: 'STATUS',
    value: ({ status }) => status,
    paint: ({ status }) => (status === 'active' ? 'active' : status === 'failed' ? 'bad' : 'faint'),
  },
  { heading: 'LANGUAGE', value: ({ language }) => language },
  { heading: 'STARTED', value: ({ startedAt }) => instant(startedAt) },
  { heading: 'STOPPED', value: ({ stoppedAt }) => instant(stoppedAt) },
  { heading: 'ID', value: ({ transcriptionId }) => transcriptionId },
];

const listLive = defineCommand({
  verb: 'list',
  summary: 'List the live transcriptions of all rooms, newest first',
  fields: LIVE_FIELDS,
  options: {
    room: option('--room <room>', 'only those of this room', { completes: 'rooms' }),
    status: option('--status <status>', 'only these', choice(LIVE_STATES)),
    limit: LIMIT,
    watch: WATCH,
  },
  examples: [{ line: 'rtc transcription list --status active', does: 'What is being transcribed now' }],
  async run(context, { room, status, ...choices }) {
    const client = await context.client();
    const { signal } = context.io;
    return pagedList(context, choices, {
      name: 'transcriptions',
      read: (page) => client.transcription.list({ roomId: room, status, ...page, signal }),
      columns: LIVE_LIST,
      identify: ({ transcriptionId }) => transcriptionId,
      empty: 'No room has been transcribed. Start it: rtc transcription start ROOM',
    });
  },
});

const start = defineCommand({
  verb: 'start',
  summary: 'Transcribe a room live',
  description:
    'Needs a running worker (rtc worker stt-live). If the room is already being transcribed, the command succeeds and changes nothing.',
  fields: ['transcriptionId', 'roomId', 'status', 'language', 'startedAt'] satisfies (keyof LiveStarted)[],
  arguments: { room: ROOM, speakers: SPEAKERS },
  options: {
    language: LANGUAGE,
    ...LIVE_OPTIONS,
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
    return record(started, STARTED, {
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
  verb: 'stop',
  summary: 'Stop transcribing a room',
  fields: ['transcriptionId', 'status', 'stoppedAt', 'segmentCount'] satisfies (keyof LiveStopped)[],
  arguments: { room: ROOM },
  examples: [{ line: 'rtc transcription stop demo', does: 'Stop; the transcript is kept' }],
  async run(context, { room }) {
    const client = await context.client();
    const stopped = await client.transcription.stop(room, { signal: context.io.signal });
    return record(stopped, STOPPED, {
      notes: [`Read it: rtc transcription get ${shellQuote(room)} --format text`],
    });
  },
});

const get = defineCommand({
  verb: 'get',
  summary: 'Show what was said in a room',
  description: 'Shows the running transcription, or else the last one. Works after the room has ended, too.',
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

export const follow = defineCommand({
  verb: 'follow',
  summary: 'Follow what is said in a room',
  description:
    'Begins with what has been said so far, and ends with the transcription. Prints one line per segment, coloured by speaker; without a terminal, one JSON object per line. If the service goes away, the command waits for it and misses nothing.',
  fields: SEGMENT_FIELDS,
  arguments: { room: existing('name of the room', 'rooms') },
  options: { since: SINCE },
  examples: [
    { line: 'rtc transcription follow demo', does: 'Captions, until the transcription is stopped' },
    { line: 'rtc transcription follow demo --since 0s', does: 'From now on' },
    { line: 'rtc transcription follow demo | jq -r .text', does: 'For a program: one JSON object per line' },
  ],
  isStream: () => true,
  async run(context, { room, since }) {
    const { terminal, io } = context;
    const client = await context.client();
    const captions = new Captions(terminal);
    let failure: LiveTranscription['error'] = null;
    const segments = client.transcription.follow(room, {
      since: since?.(io.clock()),
      signal: io.signal,
      onStart: (transcription) => greet(terminal, transcription),
      onEnd: ({ error }) => {
        // A service of an earlier version sends no error.
        failure = error ?? null;
      },
      ...interruptionNotes(context, 'The service is back; nothing was missed.'),
    });
    for await (const segment of segments) captions.show(segment);
    throwIfFailed(room, failure);
    printHint(terminal, `The transcription is over: ${plural(captions.count, 'segment')}.`);
    return nothing();
  },
});

/** Colours of speakers, in the order of their first words; beyond these they repeat. */
const COLOURS = ['name', 'good', 'warning', 'active'] as const;

class Captions {
  readonly #terminal: Terminal;
  readonly #colours = new Map<string | null, (typeof COLOURS)[number]>();
  count = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(segment: Segment): void {
    const { json, isTerminal, io } = this.#terminal;
    this.count += 1;
    const isForPeople = isTerminal && json === undefined;
    io.stdout.write(`${isForPeople ? this.#line(segment) : this.#json(segment)}\n`);
  }

  #line({ start, speaker, participantIdentity, text }: Segment): string {
    const { palette } = this.#terminal;
    const time = palette.faint(formatClock(start).padStart(5));
    if (speaker === null) return `${time}  ${escapeForTerminal(text)}`;
    const paint = palette[this.#colourOf(participantIdentity ?? speaker)];
    return `${time}  ${paint(`${escapeForTerminal(speaker)}:`)} ${escapeForTerminal(text)}`;
  }

  #json(segment: Segment): string {
    const { json } = this.#terminal;
    const isWhole = json === undefined || json === 'everything';
    return jsonLine(this.#terminal, isWhole ? segment : select(segment, json));
  }

  /** A renamed speaker keeps the colour. */
  #colourOf(key: string): (typeof COLOURS)[number] {
    const known = this.#colours.get(key) ?? COLOURS[this.#colours.size % COLOURS.length] ?? 'name';
    this.#colours.set(key, known);
    return known;
  }
}

export const commands = ofNoun('transcription', [start, stop, get, listLive, follow, speakers]);

function greet(terminal: Terminal, { status }: LiveTranscription): void {
  if (status === 'active') printHint(terminal, 'Following. Press Ctrl-C to end.');
}

function throwIfFailed(room: string, failure: LiveTranscription['error']): void {
  if (failure === null) return;
  const next = `start it again: rtc transcription start ${shellQuote(room)}`;
  throw new CliError(EXIT.failure, `the transcription has failed: ${failure.message}`, next);
}
