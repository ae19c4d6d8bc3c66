import type { Delivery } from '../../../contract/deliveries.ts';
import type { Event } from '../../../contract/events.ts';
import type { Participant } from '../../../contract/participants.ts';
import type { Room } from '../../../contract/rooms.ts';

/** The state of `rtc top`. All of it is other people's text, and made harmless where it is drawn. */

export type Caption = { readonly speaker: string; readonly identity: string | null; readonly text: string };

export type TopRoom = {
  readonly room: Room;
  /** As the service knows it: the media server says it of a room only some time later. */
  readonly isRecording: boolean;
  readonly people: readonly Participant[];
  /** The last sentence of a transcription that runs; undefined without one. */
  readonly caption: Caption | undefined;
  readonly isTranscribed: boolean;
  /** Who is heard just now, as far as a transcription tells. */
  readonly speaking: ReadonlySet<string>;
  /** People at each tick, oldest first. */
  readonly history: readonly number[];
};

export type TopDelivery = { readonly delivery: Delivery; readonly url: string };

export type TopState = {
  readonly rooms: readonly TopRoom[];
  readonly deliveries: readonly TopDelivery[];
  /** Newest first. */
  readonly events: readonly Event[];
  /** Events of each tick, oldest first; the last is the present one. */
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

export function addEvent(state: TopState, event: Event): TopState {
  return {
    ...state,
    events: [event, ...state.events].slice(0, KEPT_EVENTS),
    activity: [...state.activity.slice(0, -1), (state.activity.at(-1) ?? 0) + 1],
  };
}

export type RoomFacts = Omit<TopRoom, 'history'>;

/** Rooms keep their place, so that a selection does not jump; new ones come at the end. */
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

/** A new tick of the plots. */
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

/** Failures first, and the newest of each first. */
export function sortDeliveries(deliveries: readonly TopDelivery[]): readonly TopDelivery[] {
  return deliveries.toSorted(
    ({ delivery: one }, { delivery: other }) =>
      ORDER[one.status] - ORDER[other.status] || other.createdAt.localeCompare(one.createdAt),
  );
}
