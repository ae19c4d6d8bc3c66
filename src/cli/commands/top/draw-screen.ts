import stringWidth from 'string-width';
import type { Participant } from '../../../contract/participants.ts';
import type { Environment } from '../../terminal/io.ts';
import { cutAddress } from '../../terminal/table.ts';
import { escapeForTerminal, type Palette } from '../../terminal/terminal.ts';
import { clockTime, formatShortAge } from '../../terminal/time.ts';
import type { TopDelivery, TopRoom, TopState } from './state.ts';

const LEAST_COLUMNS = 40;

const LEAST_ROWS = 10;

/** Minimum rows for the list of events. */
const ROWS_FOR_EVENTS = 34;

/** Returns the lines of the whole screen. */
export function drawScreen(state: TopState, view: View, drawing: Drawing): readonly string[] {
  const { columns, rows, glyphs } = drawing;
  if (columns < LEAST_COLUMNS || rows < LEAST_ROWS) {
    return [fitText(`too small: ${LEAST_COLUMNS}x${LEAST_ROWS} at least`, columns, glyphs)];
  }
  if (view.isHelpShown) {
    const blank = Array.from({ length: Math.max(0, rows - KEY_HELP.length - 4) }, () => '');
    const lines = KEY_HELP.map((line) => fitText(`  ${line}`, columns, glyphs));
    return [...head(state, drawing), ...lines, ...blank]
      .slice(0, rows - 2)
      .concat(foot(state, view, drawing));
  }
  const body = rows - 4;
  const hasEvents = rows >= ROWS_FOR_EVENTS;
  const heights = share(body, hasEvents ? [3, 3, 3, 2] : [2, 2, 2]);
  const sections = drawSections(state, view, drawing);
  const lists: readonly Section[] = [
    sections.rooms,
    sections.people,
    sections.deliveries,
    ...(hasEvents ? [sections.events] : []),
  ];
  return [
    ...head(state, drawing),
    ...lists.flatMap((section, index) => drawSection(section, heights[index] ?? 0, drawing)),
    ...foot(state, view, drawing),
  ];
}

/** Divides rows in proportion; the remainder goes to the first. */
function share(rows: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const shares = weights.map((weight) => Math.floor((rows * weight) / sum));
  const left = rows - shares.reduce((total, each) => total + each, 0);
  return shares.map((each, index) => (index === 0 ? each + left : each));
}

function head(state: TopState, { columns, palette, glyphs, nowMs, title }: Drawing): readonly string[] {
  const time = clockTime(nowMs);
  const people = state.rooms.reduce((sum, room) => sum + room.people.length, 0);
  const recordings = state.rooms.filter(({ isRecording }) => isRecording).length;
  const transcribed = state.rooms.filter(({ isTranscribed }) => isTranscribed).length;
  const failed = state.deliveries.filter(({ delivery }) => delivery.status === 'failed').length;
  const counts = [
    `rooms ${state.rooms.length}`,
    `people ${people}`,
    `recording ${recordings}`,
    `transcribing ${transcribed}`,
  ].join('  ');
  const failures = `failed ${failed}`;
  const taken = counts.length + 2 + failures.length;
  const graph = Math.max(10, Math.min(60, columns - taken - 9));
  const rest = fitText(`  events ${plot(state.activity, graph, glyphs)}`, columns - taken, glyphs);
  return [
    `${palette.heading(fitText(title, columns - time.length - 1, glyphs))} ${time}`,
    taken > columns
      ? fitText(`${failures}  ${counts}`, columns, glyphs)
      : `${counts}  ${failed > 0 ? palette.bad(failures) : failures}${rest}`,
  ];
}

function drawSection(
  { title, isFocused, head: heading, rows, selected }: Section,
  height: number,
  drawing: Drawing,
) {
  const { columns, palette, glyphs } = drawing;
  const label = `${isFocused ? '>' : ' '} ${title} `;
  const ruled = fitText(label + glyphs.rule.repeat(columns), columns + 1, glyphs).slice(0, -1);
  const first = isFocused ? palette.heading(ruled) : palette.faint(ruled);
  const space = height - 2;
  // Keeps the selection visible.
  const from = Math.max(0, Math.min(selected - Math.floor(space / 2), rows.length - space));
  const lines = rows.slice(from, from + Math.max(0, space)).map(({ text, paint, painted }, index) => {
    const isSelected = from + index === selected;
    const mark = isFocused ? '>' : '-';
    const line = fitText(`${isSelected ? mark : ' '} ${text}`, columns, glyphs);
    if (isSelected && isFocused) return palette.heading(palette.name(line));
    return paint === undefined
      ? line
      : palette[paint](line.slice(0, painted)) + line.slice(painted ?? line.length);
  });
  const all = [first, palette.faint(fitText(`  ${heading}`, columns, glyphs)), ...lines];
  const blank = Array.from({ length: Math.max(0, height - all.length) }, () => '');
  return [...all, ...blank].slice(0, height);
}

const KEYS = 'Tab ↑↓  m mute  x remove  r record  s stop  p replay  o open  ? help  q quit';

const READING_KEYS = 'Tab ↑↓  o open  ? help  q quit    --read-only';

const KEY_HELP = [
  '',
  'Tab        go to the next list: rooms, people, deliveries',
  'Up, Down   choose in the list; k and j do the same',
  'm          mute the person, or everybody in the room',
  'x          remove the person, or close the room',
  'r, s       start and stop the recording of the room',
  'p          send the failed delivery again',
  'o          open the room in the browser',
  '?          show and hide this help',
  'q          quit; Ctrl-C does the same',
  '',
  'What loses something asks first.',
];

function foot(state: TopState, { message }: View, { columns, palette, glyphs, isReadOnly }: Drawing) {
  const trouble = state.trouble === undefined ? undefined : `waiting for the service: ${state.trouble}`;
  const text = message?.text ?? trouble ?? '';
  const paint = message?.paint ?? 'warning';
  const keys = isReadOnly ? READING_KEYS : KEYS;
  const line = text === '' ? '' : palette[paint](fitText(text, columns, glyphs));
  const plain = glyphs.more === '~' ? keys.replace('↑↓', 'j/k') : keys;
  return [line, palette.faint(fitText(plain, columns, glyphs))];
}

/** A list on the screen, with its rows as text before they are cut. */
type Section = {
  readonly title: string;
  readonly isFocused: boolean;
  readonly head: string;
  readonly rows: readonly {
    readonly text: string;
    readonly paint?: keyof Palette;
    /** How many characters of the line are painted; absent for all. */
    readonly painted?: number;
  }[];
  readonly selected: number;
};

type Sections = Readonly<Record<'rooms' | 'people' | 'deliveries' | 'events', Section>>;

function drawSections(state: TopState, view: View, drawing: Drawing): Sections {
  const room = state.rooms[view.selected.rooms];
  return {
    rooms: roomSection(state.rooms, view, drawing),
    people: peopleSection(room, view, drawing),
    deliveries: deliverySection(state.deliveries, view, drawing),
    events: eventSection(state, drawing),
  };
}

const PLOT = 12;

function roomSection(
  rooms: readonly TopRoom[],
  { focus, selected }: View,
  { columns, glyphs }: Drawing,
): Section {
  const name = Math.max(12, Math.min(32, Math.floor(columns * 0.25)));
  const row = (cells: readonly string[]): string => {
    const [first = '', people = '', graph = '', recording = '', caption = ''] = cells;
    return `${fitText(first, name, glyphs)} ${people.padStart(6)} ${graph} ${recording.padEnd(5)} ${caption}`;
  };
  return {
    title: `ROOMS ${rooms.length}`,
    isFocused: focus === 'rooms',
    selected: selected.rooms,
    head: row(['NAME', 'PEOPLE', 'OVER TIME'.padEnd(PLOT), 'REC', 'LAST CAPTION']),
    rows: rooms.map(({ room, isRecording, people, caption, isTranscribed, history }) => ({
      text: row([
        room.name,
        String(people.length),
        plot(history, PLOT, glyphs),
        isRecording ? `${glyphs.on} rec` : '',
        caption === undefined
          ? isTranscribed
            ? '(transcribing)'
            : ''
          : `${caption.speaker}: ${caption.text}`,
      ]),
      ...(isRecording ? { paint: 'active' as const } : {}),
    })),
  };
}

function peopleSection(
  room: TopRoom | undefined,
  { focus, selected }: View,
  { columns, glyphs }: Drawing,
): Section {
  const people = room?.people ?? [];
  const name = Math.max(12, Math.min(32, Math.floor(columns * 0.25)));
  const row = (cells: readonly string[]): string => {
    const [identity = '', shown = '', role = '', microphone = '', camera = '', speaks = ''] = cells;
    const columns = [
      fitText(identity, name, glyphs),
      fitText(shown, name, glyphs),
      fitText(role, 11, glyphs),
    ];
    return `${columns.join(' ')} ${microphone.padEnd(6)} ${camera.padEnd(6)} ${speaks}`;
  };
  return {
    title: room === undefined ? 'PEOPLE' : `PEOPLE ${people.length} in ${room.room.name}`,
    isFocused: focus === 'people',
    selected: selected.people,
    head: row(['IDENTITY', 'NAME', 'ROLE', 'MIC', 'CAMERA', 'SPEAKS']),
    rows: people.map((person) => {
      const isSpeaking = room?.speaking.has(person.identity) ?? false;
      return {
        text: row([
          person.identity,
          person.name,
          person.attributes['rtc.role'] ?? '',
          trackState(person, 'MICROPHONE'),
          trackState(person, 'CAMERA'),
          isSpeaking ? glyphs.on : '',
        ]),
        ...(isSpeaking ? { paint: 'good' as const } : {}),
      };
    }),
  };
}

function trackState({ tracks }: Participant, source: string): string {
  const track = tracks.find((each) => each.source === source);
  if (track === undefined) return '-';
  return track.muted ? 'muted' : 'on';
}

/** Columns of the mark of a selection, and of the state of a delivery. */
const [MARK, STATUS] = [2, 9] as const;

/** Columns of a delivery before its receiver. */
const BEFORE_RECEIVER = 46;

const STATUS_PAINT: Readonly<Record<TopDelivery['delivery']['status'], keyof Palette | undefined>> = {
  failed: 'bad',
  pending: 'warning',
  cancelled: 'faint',
  delivered: undefined,
};

function deliverySection(
  deliveries: readonly TopDelivery[],
  { focus, selected }: View,
  { columns, glyphs, nowMs }: Drawing,
): Section {
  const space = Math.max(20, columns - BEFORE_RECEIVER);
  const row = (cells: readonly string[]): string => {
    const [status = '', event = '', tries = '', age = '', about = ''] = cells;
    return `${fitText(status, STATUS, glyphs)} ${fitText(event, 19, glyphs)} ${tries.padStart(5)} ${age.padEnd(7)} ${about}`;
  };
  return {
    title: `DELIVERIES ${deliveries.length}, failures first`,
    isFocused: focus === 'deliveries',
    selected: selected.deliveries,
    head: row(['STATUS', 'EVENT', 'TRIES', 'AGE', 'RECEIVER']),
    rows: deliveries.map(({ delivery, url }) => {
      const { status, event, attempts, createdAt } = delivery;
      const error = attempts.at(-1)?.error ?? '';
      const paint = STATUS_PAINT[status];
      const about =
        error === '' ? cutAddress(url, space) : `${cutAddress(url, Math.floor(space * 0.7))}: ${error}`;
      return {
        text: row([
          status,
          event,
          String(attempts.length),
          formatShortAge(Date.parse(createdAt), nowMs),
          about,
        ]),
        // Only the state is painted: a receiver that is down would make a red screen, in which nothing is found.
        ...(paint === undefined ? {} : { paint, painted: MARK + STATUS }),
      };
    }),
  };
}

function eventSection({ events }: TopState, { glyphs }: Drawing): Section {
  const row = (time: string, name: string, about: string): string =>
    `${fitText(time, 9, glyphs)} ${fitText(name, 24, glyphs)} ${about}`;
  return {
    title: 'EVENTS, newest first',
    isFocused: false,
    selected: -1,
    head: row('TIME', 'EVENT', 'ABOUT'),
    rows: events.map(({ timestamp, event, room, participant }) => ({
      text: row(
        clockTime(Date.parse(timestamp)),
        event,
        [room?.name, participant?.identity].filter((word) => word !== undefined).join('  '),
      ),
    })),
  };
}

/** Characters of plots and marks; plain ones when the terminal's locale has no others. */
type Glyphs = {
  readonly levels: readonly string[];
  readonly more: string;
  readonly on: string;
  readonly rule: string;
};

const UNICODE: Glyphs = { levels: [...'▁▂▃▄▅▆▇█'], more: '…', on: '●', rule: '─' };

const ASCII: Glyphs = { levels: [...'_.-=+*%#'], more: '~', on: '*', rule: '-' };

export function chooseGlyphs({ LC_ALL, LC_CTYPE, LANG, TERM }: Environment): Glyphs {
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '') ?? '';
  return /utf-?8/i.test(locale) && TERM !== 'linux' ? UNICODE : ASCII;
}

const GRAPHEMES = new Intl.Segmenter();

/** Fits foreign text into columns: escaped, cut, and padded with spaces. */
function fitText(text: string, columns: number, { more }: Glyphs): string {
  const safe = escapeForTerminal(text);
  if (columns <= 0) return '';
  const width = safe.length > 4 * columns ? columns + 1 : stringWidth(safe);
  if (width <= columns) return safe + ' '.repeat(columns - width);
  let cut = '';
  let taken = 0;
  for (const { segment } of GRAPHEMES.segment(safe)) {
    // Any number of marks can pile up on one letter.
    const size = segment.length > 16 ? columns : stringWidth(segment);
    if (taken + size > columns - 1) break;
    cut += segment;
    taken += size;
  }
  return cut + more + ' '.repeat(Math.max(0, columns - taken - 1));
}

/** Draws a small plot of the newest values, one column each. */
function plot(values: readonly number[], columns: number, { levels }: Glyphs): string {
  const shown = values.slice(-columns);
  const highest = Math.max(1, ...shown);
  const bars = shown.map((value) =>
    value === 0 ? ' ' : (levels[Math.ceil((value / highest) * levels.length) - 1] ?? ' '),
  );
  return bars.join('').padStart(columns);
}

export type Focus = 'rooms' | 'people' | 'deliveries';

export const FOCI: readonly Focus[] = ['rooms', 'people', 'deliveries'];

/** The selection and the open question. */
export type View = {
  readonly isHelpShown: boolean;
  readonly focus: Focus;
  readonly selected: Readonly<Record<Focus, number>>;
  /** A question, a result or an error, in the last line but one. */
  readonly message: { readonly text: string; readonly paint: keyof Palette } | undefined;
};

export type Drawing = {
  readonly columns: number;
  readonly rows: number;
  readonly palette: Palette;
  readonly glyphs: Glyphs;
  readonly nowMs: number;
  /** Name of the service, and whether it is protected or read-only. */
  readonly title: string;
  readonly isReadOnly: boolean;
};
