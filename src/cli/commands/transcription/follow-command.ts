import { shellQuote } from '../../../contract/shell-quote.ts';
import type { LiveTranscription, Segment } from '../../../contract/transcription.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import { describeError } from '../../errors/describe-error.ts';
import { defineCommand } from '../../framework/command.ts';
import type { Context } from '../../framework/context.ts';
import { existing } from '../../framework/parameters.ts';
import { escapeForTerminal } from '../../terminal/escape-for-terminal.ts';
import { jsonLine, select } from '../../terminal/output.ts';
import { nothing } from '../../terminal/result.ts';
import { printHint, printStatus, type Terminal } from '../../terminal/terminal.ts';
import { clockTime, plural } from '../../terminal/time.ts';
import { SINCE } from './transcript-options.ts';
import { formatClock, SEGMENT_FIELDS } from './transcript-view.ts';

export const follow = defineCommand({
  noun: 'transcription',
  verb: 'follow',
  summary: 'Follow what is said in a room',
  description:
    'Begins with what has been said so far, and ends with the transcription. Prints one line per segment, coloured by speaker; without a terminal, one JSON object per line. If the service goes away, the command waits for it and misses nothing.',
  needs: 'service',
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
      ...interruptions(context),
    });
    for await (const segment of segments) captions.show(segment);
    throwIfFailed(room, failure);
    printHint(terminal, `The transcription is over: ${plural(captions.count, 'segment')}.`);
    return nothing();
  },
});

function greet(terminal: Terminal, { status }: LiveTranscription): void {
  if (status === 'active') printHint(terminal, 'Following. Press Ctrl-C to end.');
}

function throwIfFailed(room: string, failure: LiveTranscription['error']): void {
  if (failure === null) return;
  const next = `start it again: rtc transcription start ${shellQuote(room)}`;
  throw new CliError(EXIT.failure, `the transcription has failed: ${failure.message}`, next);
}

function interruptions({ terminal, io }: Context) {
  const note = (text: string): void => printStatus(terminal, `${clockTime(io.clock())}  ${text}`);
  return {
    onInterruption: (error: unknown) => note(`${describeError(error, io.clock()).cause}; waiting for it`),
    onResumption: () => note('The service is back; nothing was missed.'),
  };
}

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
