import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import { pause } from '../../../client/transport/retry.ts';
import type { Delivery } from '../../../contract/deliveries.ts';
import { LATEST_CURSOR } from '../../../contract/event-names.ts';
import type { Event } from '../../../contract/events.ts';
import type { Participant } from '../../../contract/participants.ts';
import type { Room } from '../../../contract/rooms.ts';
import type { Segment } from '../../../contract/transcription.ts';

/* The state of `rtc top`, and how it follows the service. All texts are foreign, and escaped when they are drawn. */

export type Caption = { readonly speaker: string; readonly identity: string | null; readonly text: string };

export type TopRoom = {
  readonly room: Room;
  /** Whether the service has a running recording of the room. The media server marks the room only some time later. */
  readonly isRecording: boolean;
  readonly people: readonly Participant[];
  /** The last sentence of a running transcription; undefined without one. */
  readonly caption: Caption | undefined;
  readonly isTranscribed: boolean;
  /** Identities that are speaking, according to the transcription. */
  readonly speaking: ReadonlySet<string>;
  /** Number of people at each tick, the oldest first. */
  readonly history: readonly number[];
};

export type TopDelivery = { readonly delivery: Delivery; readonly url: string };

export type TopState = {
  readonly rooms: readonly TopRoom[];
  readonly deliveries: readonly TopDelivery[];
  /** Newest first. */
  readonly events: readonly Event[];
  /** Events of each tick, the oldest first; the last is the current one. */
  readonly activity: readonly number[];
  /** Why the service does not respond; undefined while it does. */
  readonly trouble: string | undefined;
};

export const EMPTY: TopState = {
  rooms: [],
  deliveries: [],
  events: [],
  activity: [0],
  trouble: undefined,
};

/** Maximum rooms that are read at the start; others are read with their next event. */
const MOST_ROOMS = 100;
/** Deliveries, captions and mutes have no events: they are read again at each tick, for the selected room. */
const TICK_MS = 3_000;
/** Events from before the start that are shown and plotted. */
const STORED_EVENTS = 200;

type Followed = {
  readonly client: RtcClient;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** The selected room. */
  readonly selectedRoom: () => string | undefined;
  readonly onChange: (state: TopState) => void;
  readonly describe: (error: unknown) => string;
};

/**
 * Keeps the state of the service up to date by its stored events until the signal: the cursor is read before anything else,
 * and a room is read again after its events. Rejects with the first permanent error of the event stream.
 */
export class FollowedService {
  readonly #followed: Followed;
  #state: TopState = EMPTY;
  /** Rooms of the first list that are not read yet. */
  readonly #unread = new Set<string>();

  constructor(followed: Followed) {
    this.#followed = followed;
  }

  async run(): Promise<void> {
    const { client, signal, now } = this.#followed;
    const { nextCursor } = await client.events.list({ cursor: LATEST_CURSOR, limit: 1, signal });
    const { events } = await client.events.list({ order: 'newest', limit: STORED_EVENTS, signal });
    this.#set(beginWith(events, now(), TICK_MS));
    await this.#readAll();
    await Promise.all([this.#followEvents(nextCursor), this.#followTicks()]);
  }

  /** Reads a room again at once, such as after a change by the user. */
  async refresh(room: string): Promise<void> {
    const { client, signal, now } = this.#followed;
    const facts = await readRoomFacts({ client, signal, nowMs: now() }, room);
    this.#unread.delete(room);
    this.#set(facts === undefined ? dropRoom(this.#state, room) : putRoom(this.#state, facts));
  }

  async refreshDeliveries(): Promise<void> {
    const { client, signal, now } = this.#followed;
    const deliveries = await readDeliveries({ client, signal, nowMs: now() });
    this.#set({ ...this.#state, deliveries });
  }

  /** An unavailable service is awaited, as it is later. */
  async #readAll(): Promise<void> {
    const { client, signal } = this.#followed;
    const { rooms } = await client.rooms.list({ signal, limit: MOST_ROOMS });
    for (const { name } of rooms) this.#unread.add(name);
    await this.#try(async () => {
      for (const name of this.#unread) await this.refresh(name);
      await this.refreshDeliveries();
    });
  }

  async #followEvents(cursor: string): Promise<void> {
    const { client, signal, describe } = this.#followed;
    const events = client.events.follow({
      cursor,
      signal,
      isResumed: true,
      onInterruption: (error) => this.#setTrouble(describe(error)),
      onResumption: () => this.#setTrouble(undefined),
    });
    for await (const event of events) {
      this.#set(addEvent(this.#state, event));
      const name = event.room?.name;
      if (name !== undefined && name !== '') await this.#try(() => this.refresh(name));
    }
  }

  async #followTicks(): Promise<void> {
    const { signal, selectedRoom } = this.#followed;
    for (;;) {
      await pause(TICK_MS, signal);
      this.#set(tick(this.#state));
      const transcribed = this.#state.rooms.filter(({ isTranscribed }) => isTranscribed);
      const names = new Set([...this.#unread, ...transcribed.map(({ room }) => room.name)]);
      const selected = selectedRoom();
      if (selected !== undefined) names.add(selected);
      await this.#try(async () => {
        for (const name of names) await this.refresh(name);
        await this.refreshDeliveries();
      });
    }
  }

  /** An error is shown, and the read is repeated at the next event or tick. */
  async #try(read: () => Promise<void>): Promise<void> {
    const { signal, describe } = this.#followed;
    try {
      await read();
      if (this.#state.trouble !== undefined) this.#setTrouble(undefined);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#setTrouble(describe(error));
    }
  }

  #setTrouble(trouble: string | undefined): void {
    this.#set({ ...this.#state, trouble });
  }

  #set(state: TopState): void {
    this.#state = state;
    this.#followed.onChange(state);
  }
}

const KEPT_EVENTS = 100;
const KEPT_TICKS = 60;

/** Begins with stored events, the newest first, and the plot of them over the ticks before now. */
function beginWith(events: readonly Event[], nowMs: number, tickMs: number): TopState {
  const activity = Array.from({ length: KEPT_TICKS }, () => 0);
  for (const { timestamp } of events) {
    const ticksAgo = Math.max(0, Math.floor((nowMs - Date.parse(timestamp)) / tickMs));
    const index = KEPT_TICKS - 1 - ticksAgo;
    if (index >= 0) activity[index] = (activity[index] ?? 0) + 1;
  }
  return { ...EMPTY, events: events.slice(0, KEPT_EVENTS), activity };
}

function addEvent(state: TopState, event: Event): TopState {
  return {
    ...state,
    events: [event, ...state.events].slice(0, KEPT_EVENTS),
    activity: [...state.activity.slice(0, -1), (state.activity.at(-1) ?? 0) + 1],
  };
}

type RoomFacts = Omit<TopRoom, 'history'>;

/** Rooms keep their position, so that the selection does not jump. New ones are added at the end. */
function putRoom(state: TopState, facts: RoomFacts): TopState {
  const { name } = facts.room;
  const before = state.rooms.find(({ room }) => room.name === name);
  const after = { ...facts, history: before?.history ?? [facts.people.length] };
  if (before === undefined) return { ...state, rooms: [...state.rooms, after] };
  return { ...state, rooms: state.rooms.map((each) => (each === before ? after : each)) };
}

function dropRoom(state: TopState, name: string): TopState {
  return { ...state, rooms: state.rooms.filter(({ room }) => room.name !== name) };
}

/** Starts a new tick of the plots. */
function tick(state: TopState): TopState {
  const rooms = state.rooms.map((each) => ({
    ...each,
    history: [...each.history, each.people.length].slice(-KEPT_TICKS),
  }));
  return { ...state, rooms, activity: [...state.activity, 0].slice(-KEPT_TICKS) };
}

const ORDER: Readonly<Record<Delivery['status'], number>> = {
  failed: 0,
  pending: 1,
  cancelled: 2,
  delivered: 3,
};

/** Sorts failed deliveries first, then the newest first. */
function sortDeliveries(deliveries: readonly TopDelivery[]): readonly TopDelivery[] {
  return deliveries.toSorted(
    ({ delivery: one }, { delivery: other }) =>
      ORDER[one.status] - ORDER[other.status] || other.createdAt.localeCompare(one.createdAt),
  );
}

/** Kinds that count as people, without agents and recorders. */
const PEOPLE: readonly string[] = ['STANDARD', 'SIP', 'INGRESS'];
const CAPTION_WINDOW_MS = 60_000;
/** A participant who spoke this recently counts as speaking. */
const SPEAKING_MS = 3_000;
const DELIVERIES = 20;
const MOST_WEBHOOKS = 20;

type Reading = { readonly client: RtcClient; readonly signal: AbortSignal; readonly nowMs: number };

/** Returns undefined when the room is closed. */
async function readRoomFacts(
  { client, signal, nowMs }: Reading,
  name: string,
): Promise<RoomFacts | undefined> {
  try {
    const [room, { isRecording }, participants, segments] = await Promise.all([
      client.rooms.get(name, { signal }),
      client.recordings.status(name, { signal }),
      Array.fromAsync(client.participants.all(name, { signal })),
      readSegments({ client, signal, nowMs }, name),
    ]);
    const last = segments?.at(-1);
    return {
      room,
      isRecording,
      people: participants.filter(({ kind }) => PEOPLE.includes(kind)),
      isTranscribed: segments !== undefined,
      caption:
        last === undefined
          ? undefined
          : {
              speaker: last.speaker ?? last.participantIdentity ?? '',
              identity: last.participantIdentity,
              text: last.text,
            },
      speaking: findSpeakers(segments ?? [], nowMs),
    };
  } catch (error) {
    if (error instanceof RtcError && error.code === 'room-not-found') return undefined;
    throw error;
  }
}

/** A participant with an interim result is speaking: it becomes final at the first pause. */
function findSpeakers(segments: readonly Segment[], nowMs: number): ReadonlySet<string> {
  const spoken = segments.filter(({ final, endedAt }) => !final || nowMs - Date.parse(endedAt) < SPEAKING_MS);
  return new Set(spoken.flatMap(({ participantIdentity }) => participantIdentity ?? []));
}

/** Reads the latest words, with their times; undefined without a running transcription. */
async function readSegments(
  { client, signal, nowMs }: Reading,
  name: string,
): Promise<readonly Segment[] | undefined> {
  try {
    const since = new Date(nowMs - CAPTION_WINDOW_MS).toISOString();
    const { status, segments } = await client.transcription.get(name, { since, signal });
    if (status !== 'active') return undefined;
    return segments.toSorted((one, other) => one.endedAt.localeCompare(other.endedAt));
  } catch (error) {
    // Most rooms have no transcription, and a service without the add-on returns an error.
    if (error instanceof RtcError && ABSENT.includes(error.code)) return undefined;
    throw error;
  }
}

const ABSENT: readonly string[] = ['transcription-not-found', 'addon-unavailable', 'room-not-found'];

/** Reads the newest deliveries of each webhook, and the newest failed ones. */
async function readDeliveries({ client, signal }: Reading): Promise<readonly TopDelivery[]> {
  const { webhooks } = await client.webhooks.list({ signal, limit: MOST_WEBHOOKS });
  const lists = await Promise.all(
    webhooks.map(async ({ id, url }) => {
      const failed = await client.deliveries.list(id, { signal, status: 'failed', limit: DELIVERIES });
      const newest = await client.deliveries.list(id, { signal, limit: DELIVERIES });
      const known = new Set(failed.deliveries.map((delivery) => delivery.id));
      const others = newest.deliveries.filter((delivery) => !known.has(delivery.id));
      return [...failed.deliveries, ...others].map((delivery) => ({ delivery, url }));
    }),
  );
  return sortDeliveries(lists.flat());
}
