import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import { pause, retryUntilResponse } from '../../../client/transport/retry.ts';
import type { Delivery } from '../../../contract/deliveries.ts';
import type { EventType } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import type { Recording } from '../../../contract/recordings.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import type { LiveTranscription, PostTranscriptionDetail } from '../../../contract/transcription.ts';
import { CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import {
  argument,
  choice,
  defineCommand,
  existing,
  ofNoun,
  option,
  requiredOption,
} from '../../framework/parameters.ts';
import { type Column, record } from '../../terminal/result.ts';
import { printHint } from '../../terminal/terminal.ts';
import { RECORDING_FIELDS, recordingRecord } from '../recordings/recording-view.ts';
import {
  POST_DETAIL_FIELDS,
  postRecord,
  SEGMENT_FIELDS,
  segmentList,
} from '../transcription/transcript-view.ts';
import { DELIVERY_FIELDS, deliveryColumns } from '../webhooks/webhook-view.ts';
import { followState, interruptionHandlers, TIMEOUT, withinTime } from './time-limit.ts';

const waitForRecording = defineCommand({
  verb: 'recording',
  summary: 'Wait until a recording has ended and its file is complete',
  description:
    'Exit codes: 0 if it ended in the state of --for, 7 if it ended in another one, 8 if it has not ended in time, 3 if there is no such recording.',
  fields: RECORDING_FIELDS,
  arguments: { id: existing('id of the recording', 'recordings') },
  options: {
    for: option('--for <state>', 'default stopped', choice(['stopped', 'aborted', 'failed'])),
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
  verb: 'transcription',
  summary: 'Wait until a transcription is complete',
  description:
    'Works for recordings and for live transcriptions; these are complete when they have been stopped. Exit codes: 0 if it ended in the state of --for, 7 if it ended in another one, 8 if it has not ended in time, 3 if there is no such transcription.',
  fields: [...POST_DETAIL_FIELDS, ...SEGMENT_FIELDS],
  arguments: { id: existing('id of the transcription', 'transcriptions') },
  options: {
    for: option('--for <state>', 'default completed', choice(['completed', 'failed'])),
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

/** The maximum wait of the service. */
const WAIT_SECONDS = 25;

const SHORTEST_WAIT_MS = 500;

export const waitForDelivery = defineCommand({
  verb: 'delivery',
  summary: 'Wait until a delivery has succeeded, or failed for good',
  description:
    'Exit codes: 0 if it ended in the state of --for, 7 if it ended in another one, 8 if it has not ended in time, 3 if there is no such delivery. The last attempt is 5 min 35 s after the first.',
  fields: DELIVERY_FIELDS,
  arguments: {
    webhook: existing('id of the webhook', 'webhooks'),
    delivery: existing('id of the delivery', 'deliveries'),
  },
  options: {
    for: option('--for <state>', 'default delivered', choice(['delivered', 'failed', 'cancelled'])),
    timeout: TIMEOUT,
  },
  examples: [
    {
      line: 'rtc wait delivery wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --timeout 6m',
      does: 'Through all attempts',
    },
  ],
  async run(context, { webhook, delivery, for: wanted = 'delivered', timeout }) {
    const client = await context.client();
    const isOver = ({ status }: Delivery): boolean => status !== 'pending';
    const what = `delivery ${delivery} to be ${wanted}`;
    const limit = {
      what,
      timeoutSeconds: timeout,
      read: (signal: AbortSignal) => client.deliveries.get(webhook, delivery, { signal }),
      isOver,
    };
    const ended = await withinTime(context, limit, async (first, signal) => {
      printHint(context.terminal, `Waiting for ${what}. Press Ctrl-C to end.`);
      let state = first;
      while (!isOver(state)) {
        const startedAt = performance.now();
        const options = { wait: WAIT_SECONDS, signal };
        state = await retryUntilResponse({}, interruptionHandlers(context, signal), () =>
          client.deliveries.get(webhook, delivery, options),
        );
        // A service that shuts down, or a proxy, may end a wait at once.
        const isShort = performance.now() - startedAt < SHORTEST_WAIT_MS;
        if (!isOver(state) && isShort) await pause(SHORTEST_WAIT_MS, signal);
      }
      return state;
    });
    return record(ended, deliveryColumns(context.terminal), {
      exitCode: ended.status === wanted ? EXIT.success : EXIT.negative,
    });
  },
});

const FIELDS = [
  'room',
  'isOpen',
  'participants',
  'publishers',
] as const satisfies readonly (keyof RoomState)[];

const COLUMNS: readonly Column<Reached>[] = [
  { heading: 'ROOM', value: ({ room }) => room, paint: 'name' },
  { heading: 'OPEN', value: ({ isOpen }) => isOpen },
  { heading: 'PARTICIPANTS', value: ({ participants }) => participants.join(', ') },
  { heading: 'PUBLISHERS', value: ({ publishers }) => publishers.join(', ') },
];

const CONDITIONS =
  'open, closed, participants>=2, publishers>=1, joined:ada, publishing:ada or left:ada; in quotes, because of > and <';

const COMPARISONS: Readonly<Record<string, (count: number, bound: number) => boolean>> = {
  '>=': (count, bound) => count >= bound,
  '<=': (count, bound) => count <= bound,
  '>': (count, bound) => count > bound,
  '<': (count, bound) => count < bound,
  '==': (count, bound) => count === bound,
  '=': (count, bound) => count === bound,
};

const COUNTS: Readonly<Record<string, (room: RoomState) => number>> = {
  participants: (room) => room.participants.length,
  publishers: (room) => room.publishers.length,
};

const ABOUT_ONE: Readonly<Record<string, (room: RoomState, identity: string) => boolean>> = {
  joined: (room, identity) => room.participants.includes(identity),
  publishing: (room, identity) => room.publishers.includes(identity),
  left: (room, identity) => !room.participants.includes(identity),
};

export const waitForRoom = defineCommand({
  verb: 'room',
  summary: 'Wait for a condition of a room',
  description:
    'A condition is open, closed, participants>=2, publishers=0 (with >=, <=, >, <, =), joined:ada, publishing:ada or left:ada (which is also met if ada is not there). Put it in quotes, since > and < have a meaning in a shell. Exit codes: 0 if it is met, 8 if it is not met in time, 3 if there is no such room, 7 if the room was closed instead.',
  fields: FIELDS,
  arguments: { room: argument('name of the room', { completes: 'rooms' }) },
  options: {
    for: requiredOption('--for <condition>', 'such as participants>=2, or open', { parse: roomCondition }),
    timeout: TIMEOUT,
  },
  examples: [
    { line: "rtc wait room demo --for 'participants>=2' --timeout 60s", does: 'Until two people are there' },
    { line: 'rtc wait room demo --for publishing:ada', does: "Until ada's microphone or camera is on" },
    { line: 'rtc wait room demo --for open --timeout 1h', does: 'Until somebody opens it' },
  ],
  async run(context, { room, for: condition, timeout }) {
    const client = await context.client();
    let hasBeenOpen = false;
    const seen = (state: RoomState): RoomState => {
      hasBeenOpen ||= state.isOpen;
      return state;
    };
    const reached = await followState<RoomState>(context, {
      what: `${condition.text} in room ${JSON.stringify(room)}`,
      timeoutSeconds: timeout,
      room,
      types: ROOM_EVENTS,
      read: async (signal) => seen(await readRoom(client, room, signal)),
      apply: (state, event, read) => applyRoomEvent(state, event) ?? read(),
      isOver: (state) => judge(condition, { ...state, hasBeenOpen }) !== 'pending',
    });
    if (judge(condition, { ...reached, hasBeenOpen }) === 'impossible') {
      throw (hasBeenOpen ? undefined : reached.notFound) ?? closedInstead(condition, room);
    }
    const { isOpen, participants, publishers } = reached;
    const result: Reached = { room, isOpen, participants, publishers };
    return record(result, COLUMNS);
  },
});

const ROOM_EVENTS: readonly EventType[] = [
  'room_created',
  'room_started',
  'room_finished',
  'participant_joined',
  'participant_left',
  'track_published',
  'track_unpublished',
];

/** Agents are listed but not counted as participants, as in events. */
const AGENT = 'AGENT';

export const commands = ofNoun('wait', [
  waitForRoom,
  waitForRecording,
  waitForTranscription,
  waitForDelivery,
]);

type Reached = Pick<RoomState, (typeof FIELDS)[number]>;

/** A room that never existed can meet only conditions that are possible without one. */
function judge(
  { isMet, canBegin }: RoomCondition,
  state: RoomState & { readonly hasBeenOpen: boolean },
): 'met' | 'impossible' | 'pending' {
  if (!state.isOpen && !state.hasBeenOpen && !canBegin) return 'impossible';
  if (isMet(state)) return 'met';
  return state.isOpen || canBegin ? 'pending' : 'impossible';
}

function closedInstead({ text }: RoomCondition, room: string): CliError {
  return new CliError(
    EXIT.negative,
    `room ${JSON.stringify(room)} was closed before ${text} was met`,
    `see what happened: rtc events list --room ${shellQuote(room)}`,
  );
}

type RoomCondition = {
  /** The condition as it was typed. */
  readonly text: string;
  readonly isMet: (room: RoomState) => boolean;
  /** Whether a room that does not exist may still open and meet it. */
  readonly canBegin: boolean;
};

/** Parses `open`, `participants>=2`, `joined:ada`. Throws a usage error that lists the conditions. */
function roomCondition(text: string): RoomCondition {
  if (text === 'open') return { text, isMet: (room) => room.isOpen, canBegin: true };
  if (text === 'closed') return { text, isMet: (room) => !room.isOpen, canBegin: true };
  const isMet = comparison(text) ?? aboutOne(text);
  if (isMet !== undefined) return { text, isMet, canBegin: false };
  throw usageError(`${JSON.stringify(text)} is not a condition of a room`, `choose from ${CONDITIONS}`);
}

function comparison(text: string): RoomCondition['isMet'] | undefined {
  const parts = /^(\w+)\s*(>=|<=|==|>|<|=)\s*(\d{1,9})$/.exec(text.trim());
  if (parts === null) return undefined;
  const [, name = '', sign = '', bound] = parts;
  const count = COUNTS[name];
  const compare = COMPARISONS[sign];
  if (count === undefined || compare === undefined) return undefined;
  return (room) => compare(count(room), Number(bound));
}

function aboutOne(text: string): RoomCondition['isMet'] | undefined {
  const [, name = '', identity = ''] = /^(\w+):(.+)$/s.exec(text) ?? [];
  const test = ABOUT_ONE[name];
  return test === undefined ? undefined : (room) => test(room, identity);
}

/** The participants of a room by connection: somebody who joins again is in it twice until the old connection has ended. */
type Connections = ReadonlyMap<string, { readonly identity: string; readonly tracks: ReadonlySet<string> }>;

type RoomState = {
  readonly room: string;
  readonly isOpen: boolean;
  /** Identities, each once. */
  readonly participants: readonly string[];
  readonly publishers: readonly string[];
  /** The session of the room; undefined while it is closed. */
  readonly sid: string | undefined;
  readonly connections: Connections;
  /** Set when the room was not found. */
  readonly notFound: RtcError | undefined;
};

async function readRoom(client: RtcClient, room: string, signal: AbortSignal): Promise<RoomState> {
  try {
    const { sid } = await client.rooms.get(room, { signal });
    const participants = await Array.fromAsync(client.participants.all(room, { signal }));
    const people = participants.filter(({ kind }) => kind !== AGENT);
    const connections = people.map(({ sid: connection, identity, tracks }) => {
      const published = new Set(tracks.map((track) => track.sid));
      return [connection, { identity, tracks: published }] as const;
    });
    return openRoom(room, sid, new Map(connections));
  } catch (error) {
    if (!(error instanceof RtcError) || error.code !== 'room-not-found') throw error;
    return closedRoom(room, error);
  }
}

/** Returns the state after an event of the room; undefined for an event of another session than the known one. */
function applyRoomEvent(state: RoomState, event: Event): RoomState | undefined {
  if (state.sid === undefined || event.room?.id !== state.sid) return undefined;
  if (event.event === 'room_finished') return closedRoom(state.room, undefined);
  const { participant, track } = event;
  if (participant === undefined) return state;
  const { sid, identity } = participant;
  const connections = new Map(state.connections);
  const tracks = new Set(connections.get(sid)?.tracks);
  if (event.event === 'track_published' && track?.sid !== undefined) tracks.add(track.sid);
  if (event.event === 'track_unpublished' && track?.sid !== undefined) tracks.delete(track.sid);
  if (event.event === 'participant_left') connections.delete(sid);
  else if (event.event === 'participant_joined' || connections.has(sid)) {
    connections.set(sid, { identity, tracks });
  }
  return openRoom(state.room, state.sid, connections);
}

function openRoom(room: string, sid: string, connections: Connections): RoomState {
  const all = [...connections.values()];
  const publishing = all.filter(({ tracks }) => tracks.size > 0);
  return {
    room,
    sid,
    connections,
    isOpen: true,
    participants: [...new Set(all.map(({ identity }) => identity))],
    publishers: [...new Set(publishing.map(({ identity }) => identity))],
    notFound: undefined,
  };
}

function closedRoom(room: string, notFound: RtcError | undefined): RoomState {
  const nobody = { participants: [], publishers: [], connections: new Map() };
  return { room, sid: undefined, isOpen: false, notFound, ...nobody };
}
