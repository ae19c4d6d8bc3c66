import type { Delivery } from '../../../contract/deliveries.ts';
import type { Event } from '../../../contract/events.ts';
import type { Participant } from '../../../contract/participants.ts';
import type { Room } from '../../../contract/rooms.ts';

/** The state of `rtc top`. All texts are foreign, and escaped when they are drawn. */

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

const KEPT_EVENTS = 100;
const KEPT_TICKS = 60;

/** Begins with stored events, the newest first, and the plot of them over the ticks before now. */
export function beginWith(events: readonly Event[], nowMs: number, tickMs: number): TopState {
  const activity = Array.from({ length: KEPT_TICKS }, () => 0);
  for (const { timestamp } of events) {
    const ticksAgo = Math.max(0, Math.floor((nowMs - Date.parse(timestamp)) / tickMs));
    const index = KEPT_TICKS - 1 - ticksAgo;
    if (index >= 0) activity[index] = (activity[index] ?? 0) + 1;
  }
  return { ...EMPTY, events: events.slice(0, KEPT_EVENTS), activity };
}

export function addEvent(state: TopState, event: Event): TopState {
  return {
    ...state,
    events: [event, ...state.events].slice(0, KEPT_EVENTS),
    activity: [...state.activity.slice(0, -1), (state.activity.at(-1) ?? 0) + 1],
  };
}

export type RoomFacts = Omit<TopRoom, 'history'>;

/** Rooms keep their position, so that the selection does not jump. New ones are added at the end. */
export function putRoom(state: TopState, facts: RoomFacts): TopState {
  const { name } = facts.room;
  const before = state.rooms.find(({ room }) => room.name === name);
  const after = { ...facts, history: before?.history ?? [facts.people.length] };
  if (before === undefined) return { ...state, rooms: [...state.rooms, after] };
  return { ...state, rooms: state.rooms.map((each) => (each === before ? after : each)) };
}

export function dropRoom(state: TopState, name: string): TopState {
  return { ...state, rooms: state.rooms.filter(({ room }) => room.name !== name) };
}

/** Starts a new tick of the plots. */
export function tick(state: TopState): TopState {
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
export function sortDeliveries(deliveries: readonly TopDelivery[]): readonly TopDelivery[] {
  return deliveries.toSorted(
    ({ delivery: one }, { delivery: other }) =>
      ORDER[one.status] - ORDER[other.status] || other.createdAt.localeCompare(one.createdAt),
  );
}
