import { stripVTControlCharacters } from 'node:util';
import { formatDuration } from '../../../contract/amounts.ts';
import { ALL_EVENTS, EVENT_NAMES, type EventName, isEventName } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import { readMembers } from '../../../contract/unknown-value.ts';
import { usageError } from '../../errors/cli-error.ts';
import { didYouMean } from '../../errors/did-you-mean.ts';
import { option } from '../../framework/parameters.ts';
import type { Column } from '../../terminal/result.ts';
import { escapeForTerminal, type Terminal } from '../../terminal/terminal.ts';
import { pastMoment, pastTime } from '../../terminal/time.ts';

/** Every field that some event has. One that is missing here does not compile. */
const FIELDS: Readonly<Record<keyof Event, true>> = {
  event: true,
  room: true,
  timestamp: true,
  id: true,
  sequence: true,
  reconciled: true,
  participant: true,
  track: true,
  recording: true,
  ingress: true,
  transcription: true,
  broadcast: true,
  closing: true,
  closeReason: true,
  closedUntil: true,
  limitedUntil: true,
  planned: true,
};

export const EVENT_FIELDS = Object.keys(FIELDS);

const TIME: Column<Event> = {
  heading: 'TIME',
  value: (event) => ({ instantMs: Date.parse(event.timestamp) }),
};
const NAME: Column<Event> = { heading: 'EVENT', value: (event) => event.event, paint: 'name' };
const ROOM: Column<Event> = { heading: 'ROOM', value: (event) => event.room?.name };
const ABOUT: Column<Event> = { heading: 'ABOUT', value: describeEvent };
const PARTICIPANTS: Column<Event> = {
  heading: 'PARTICIPANTS',
  value: (event) => event.room?.numParticipants,
};
const ID: Column<Event> = {
  heading: 'EVENT-ID',
  value: (event) => event.id,
  paint: 'faint',
  isWhole: true,
};

const WIDE: readonly Column<Event>[] = [TIME, NAME, ROOM, ABOUT, PARTICIPANTS, ID];
const NARROW: readonly Column<Event>[] = [TIME, NAME, ROOM, ABOUT, ID];
const NARROWEST: readonly Column<Event>[] = [TIME, NAME, ROOM, ABOUT];

const WIDE_COLUMNS = 110;
/** On a narrower terminal ids are left out: they are useful only whole, and would leave too little space for the event. */
const NARROW_COLUMNS = 96;

export function eventColumns(terminal: Terminal): readonly Column<Event>[] {
  const { width = WIDE_COLUMNS } = terminal;
  if (width < NARROW_COLUMNS) return NARROWEST;
  return width < WIDE_COLUMNS ? NARROW : WIDE;
}

/** Describes the subject of an event: `ada`, `ada microphone`, `EG_… stopped 12s`, `in 5m`. */
function describeEvent(event: Event): string {
  const { participant, track, recording, broadcast, ingress, transcription, closing, planned } = event;
  const output = recording ?? broadcast;
  const words = [
    participant?.identity,
    track === undefined ? undefined : trackKind(track),
    recording?.egressId ?? broadcast?.broadcastId,
    output?.status,
    broadcast?.failedUrl?.url,
    output?.durationMs === undefined ? undefined : formatDuration(output.durationMs / 1000),
    output?.error,
    ingress?.ingressId,
    transcription?.transcriptionId,
    transcription?.error?.code,
    closing === undefined ? undefined : `in ${formatDuration(closing.secondsLeft)}`,
    planned && `${planned.starts} ${planned.error.code}`,
  ];
  return words.filter((word) => typeof word === 'string' && word !== '').join(' ');
}

/** The kind in LiveKit's TrackInfo: MICROPHONE is more precise than AUDIO. */
function trackKind(track: object): string {
  const { source, type } = readMembers(track);
  const kind = typeof source === 'string' && source !== 'UNKNOWN' ? source : type;
  return typeof kind === 'string' ? kind.toLowerCase().replaceAll('_', ' ') : 'track';
}

/** Length of the longest of the frequent names. */
export const NAME_WIDTH = 18;

/** Formats `09:30:04  participant_joined  demo  ada  evt_…` in the colours of a terminal. */
export function eventLine(terminal: Terminal, event: Event, mark: string): string {
  const { palette } = terminal;
  const about = escapeForTerminal(describeEvent(event));
  const parts = [
    palette.faint(pastTime(Date.parse(event.timestamp), terminal.io.clock())),
    `${mark}${palette.name(escapeForTerminal(event.event).padEnd(NAME_WIDTH))}`,
    palette.heading(escapeForTerminal(event.room?.name ?? '-')),
    ...(about === '' ? [] : [about]),
    ...(event.reconciled === true ? [palette.warning('found afterwards')] : []),
  ];
  return withId(terminal, parts, event.id);
}

/** Formats a live line, which ends with the id if the terminal has space for it. */
export function withId(terminal: Terminal, parts: readonly string[], id: string): string {
  const line = parts.join('  ');
  const whole = `${line}  ${terminal.palette.faint(escapeForTerminal(id))}`;
  const { width = Number.POSITIVE_INFINITY } = terminal;
  return stripVTControlCharacters(whole).length <= width ? whole : line;
}

/** Parses event names or their aliases, separated by commas; `*` means all. */
export function eventNames(text: string): readonly EventName[] {
  return text.split(',').map((part) => {
    const name = part.trim();
    if (isEventName(name)) return name;
    if (name === '') throw usageError('has an empty name', `choose from ${EVENT_NAMES.join(', ')}`);
    throw usageError(
      `${JSON.stringify(name)} is not an event name${didYouMean(name, KNOWN_EVENTS)}`,
      `choose from ${EVENT_NAMES.join(', ')}`,
    );
  });
}

/** Parses the name of one event, or an alias. */
export function eventName(text: string): EventName {
  const [name, ...others] = eventNames(text);
  if (name !== undefined && name !== ALL_EVENTS && others.length === 0) return name;
  throw usageError(`${JSON.stringify(text)} is not one event`, `choose from ${KNOWN_EVENTS.join(', ')}`);
}

/** Names for completion, one by one; the help of `rtc events list` lists all of them. */
export const KNOWN_EVENTS = EVENT_NAMES.filter((name) => name !== ALL_EVENTS);

/** Options that select events. The API calls them types, a webhook events: both are accepted. */
export const EVENT_FILTER = {
  room: option('--room <room>', 'only events of this room', { completes: 'rooms' }),
  events: option('--types, --events <names>', 'only these events, separated by commas', {
    parse: eventNames,
    completes: 'events',
  }),
  since: option('--since <when>', 'since then: 10m, 7d, or an instant', pastMoment),
  cursor: option('--cursor <cursor>', 'continue from the nextCursor of an earlier response'),
};
