import type { RtcClient } from '../../../client/client.ts';
import { pause } from '../../../client/transport/retry.ts';
import { LATEST_CURSOR } from '../../../contract/event-names.ts';
import { readDeliveries, readRoomFacts } from './read-state.ts';
import { addEvent, dropRoom, EMPTY, putRoom, type TopState, tick } from './state.ts';

/** Maximum rooms that are read at the start; others are read with their next event. */
const MOST_ROOMS = 100;
/** Deliveries, captions and mutes have no events: they are read again at each tick, for the selected room. */
const TICK_MS = 3_000;

export type Followed = {
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
    const { client, signal } = this.#followed;
    const { nextCursor } = await client.events.list({ cursor: LATEST_CURSOR, limit: 1, signal });
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
    const { rooms } = await client.rooms.list({ signal });
    for (const { name } of rooms.slice(0, MOST_ROOMS)) this.#unread.add(name);
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
