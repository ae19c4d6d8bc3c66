import { messageOf } from '../error-message.ts';
import type { ListenerMessage, ListenerRequest } from './room-audio-messages.ts';
import {
  type ListenedTrack,
  listenToRoom,
  loadRoomSdk,
  type RoomListener,
  type RoomSdk,
} from './room-listener.ts';

export type ListenerChannel = {
  readonly send: (message: ListenerMessage) => void;
  readonly onRequest: (listener: (request: ListenerRequest) => void) => void;
};

/** Time after the end of a call until its native memory is freed, when its last events have been handled. */
const COLLECT_AFTER_MS = 1_000;

/** Listens to rooms for a worker in another process. Returns when the room client is loaded, or cannot be loaded. */
export async function serveRoomAudio(channel: ListenerChannel): Promise<void> {
  try {
    const sdk = await loadRoomSdk();
    const rooms = new ListenedRooms(sdk, channel.send);
    channel.onRequest((request) => void rooms.handle(request));
    channel.send({ kind: 'ready' });
  } catch (error) {
    channel.send({ kind: 'unusable', reason: messageOf(error) });
  }
}

class ListenedRooms {
  readonly #sdk: RoomSdk;
  readonly #send: (message: ListenerMessage) => void;
  readonly #listeners = new Map<number, RoomListener>();
  #tracks = 0;

  constructor(sdk: RoomSdk, send: (message: ListenerMessage) => void) {
    this.#sdk = sdk;
    this.#send = send;
  }

  /** Never rejects. */
  async handle(request: ListenerRequest): Promise<void> {
    if (request.kind === 'join') await this.#join(request);
    else if (request.kind === 'caption') await this.#caption(request);
    else await this.#leave(request.connection);
  }

  async #join({ connection, room }: Extract<ListenerRequest, { kind: 'join' }>): Promise<void> {
    try {
      const listener = await listenToRoom(this.#sdk, room, {
        onTrack: (track) => void this.#forward(connection, track),
        onClosed: () => this.#send({ kind: 'closed', connection }),
      });
      this.#listeners.set(connection, listener);
      this.#send({ kind: 'joined', connection });
    } catch (error) {
      this.#send({ kind: 'refused', connection, reason: messageOf(error) });
    }
  }

  async #forward(connection: number, { trackId, identity, name, audio }: ListenedTrack): Promise<void> {
    this.#tracks += 1;
    const track = this.#tracks;
    this.#send({ kind: 'track', connection, track, trackId, identity });
    let sentName: string | undefined;
    for await (const samples of audio) {
      if (sentName !== name()) {
        sentName = name();
        this.#send({ kind: 'name', track, name: sentName });
      }
      this.#send({ kind: 'samples', track, samples });
    }
    this.#send({ kind: 'track-ended', track });
  }

  async #caption({ connection, id, caption }: Extract<ListenerRequest, { kind: 'caption' }>): Promise<void> {
    let failure: string | undefined;
    try {
      await this.#listeners.get(connection)?.sendCaption(caption);
    } catch (error) {
      failure = messageOf(error);
    }
    this.#send({ kind: 'caption-sent', id, error: failure });
  }

  async #leave(connection: number): Promise<void> {
    const listener = this.#listeners.get(connection);
    this.#listeners.delete(connection);
    try {
      await listener?.leave();
    } finally {
      this.#send({ kind: 'left', connection });
      setTimeout(() => globalThis.gc?.(), COLLECT_AFTER_MS).unref();
    }
  }
}
