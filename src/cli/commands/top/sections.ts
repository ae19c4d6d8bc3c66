import type { Participant } from '../../../contract/participants.ts';
import type { Palette } from '../../terminal/colours.ts';
import { clockTime, formatDuration } from '../../terminal/time.ts';
import { fitText, plot } from './draw-text.ts';
import type { TopDelivery, TopRoom, TopState } from './state.ts';
import type { Drawing, View } from './view.ts';

/** A list on the screen, with its rows as text before they are cut. */
export type Section = {
  readonly title: string;
  readonly isFocused: boolean;
  readonly head: string;
  readonly rows: readonly { readonly text: string; readonly paint?: keyof Palette }[];
  readonly selected: number;
};

export type Sections = Readonly<Record<'rooms' | 'people' | 'deliveries' | 'events', Section>>;

export function rowsOf(state: TopState, view: View, drawing: Drawing): Sections {
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
    const columnsOf = [
      fitText(identity, name, glyphs),
      fitText(shown, name, glyphs),
      fitText(role, 11, glyphs),
    ];
    return `${columnsOf.join(' ')} ${microphone.padEnd(6)} ${camera.padEnd(6)} ${speaks}`;
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

const STATUS_PAINT: Readonly<Record<TopDelivery['delivery']['status'], keyof Palette | undefined>> = {
  failed: 'bad',
  pending: 'warning',
  cancelled: 'faint',
  delivered: undefined,
};

function deliverySection(
  deliveries: readonly TopDelivery[],
  { focus, selected }: View,
  { glyphs, nowMs }: Drawing,
): Section {
  const row = (cells: readonly string[]): string => {
    const [status = '', event = '', tries = '', age = '', about = ''] = cells;
    return `${fitText(status, 9, glyphs)} ${fitText(event, 19, glyphs)} ${tries.padStart(5)} ${age.padEnd(7)} ${about}`;
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
      const about = error === '' ? url : `${url}: ${error}`;
      return {
        text: row([
          status,
          event,
          String(attempts.length),
          formatDuration((nowMs - Date.parse(createdAt)) / 1000),
          about,
        ]),
        ...(paint === undefined ? {} : { paint }),
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
