import type {
  AudioFrame,
  RemoteParticipant,
  RemoteTrack,
  RemoteTrackPublication,
  Room,
} from '@livekit/rtc-node';
import { toMessage } from '../log.ts';
import type { Caption, ListenerMessage, ListenerRequest, RoomAddress } from './room-audio.ts';

type ListenerChannel = {
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
    channel.send({ kind: 'unusable', reason: toMessage(error) });
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
      this.#send({ kind: 'refused', connection, reason: toMessage(error) });
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
      failure = toMessage(error);
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

/*
 * Uses LiveKit's room client, https://docs.livekit.io/home/client/. It is an optional dependency with native code that
 * only the processes of a stt-live worker load.
 */

type RoomSdk = typeof import('@livekit/rtc-node');

type ListenerEvents = {
  readonly onTrack: (track: ListenedTrack) => void;
  /** Called when the connection ends: the room was closed, we were removed, or the network failed. */
  readonly onClosed: () => void;
};

type ListenedTrack = {
  readonly trackId: string;
  readonly identity: string;
  /** The participant's current name, which may change during the call. */
  readonly name: () => string;
  /** Mono; ends with the track. */
  readonly audio: AsyncIterable<Int16Array>;
};

type RoomListener = {
  readonly sendCaption: (caption: Caption) => Promise<void>;
  readonly leave: () => Promise<void>;
};

/** LiveKit's topic for transcriptions, which its client components show as captions. */
const CAPTION_TOPIC = 'lk.transcription';

/** Length of a frame. The client's usual 10 ms would mean twice as many messages between processes. */
const FRAME_MS = 20;

export async function loadRoomSdk(): Promise<RoomSdk> {
  return await import('@livekit/rtc-node');
}

/** Rejects when the room cannot be joined. */
export async function listenToRoom(
  sdk: RoomSdk,
  { url, token, sampleRate }: RoomAddress,
  { onTrack, onClosed }: ListenerEvents,
): Promise<RoomListener> {
  const room = new sdk.Room();
  subscribeToAudio(sdk, room, { onTrack, sampleRate });
  room.on(sdk.RoomEvent.Disconnected, onClosed);
  await room.connect(url, token, { autoSubscribe: false, dynacast: false });
  for (const participant of room.remoteParticipants.values()) {
    for (const publication of participant.trackPublications.values()) subscribe(sdk, publication);
  }
  return {
    sendCaption: (caption) => sendCaption(room, caption),
    leave: async () => {
      room.off(sdk.RoomEvent.Disconnected, onClosed);
      await room.disconnect();
      forget(room);
    },
  };
}

/**
 * Removes the client's own listener. `disconnect` keeps it when the server has ended the connection. Then every event of
 * every other room would still be passed to this one, which would never be freed.
 */
function forget(room: Room): void {
  // biome-ignore lint/complexity/useLiteralKeys: the property is private, and no public method removes the listener.
  globalThis._ffiClientInstance?.off('ffi_event', room['onFfiEvent']);
  room.removeAllListeners();
}

type AudioOptions = Pick<ListenerEvents, 'onTrack'> & Pick<RoomAddress, 'sampleRate'>;

/** Subscribes to audio tracks only: receiving video would cost bandwidth for nothing. */
function subscribeToAudio(sdk: RoomSdk, room: Room, { onTrack, sampleRate }: AudioOptions): void {
  room.on(sdk.RoomEvent.TrackPublished, (publication) => subscribe(sdk, publication));
  room.on(
    sdk.RoomEvent.TrackSubscribed,
    (track: RemoteTrack, publication: RemoteTrackPublication, participant: RemoteParticipant) => {
      if (track.kind !== sdk.TrackKind.KIND_AUDIO) return;
      const stream = new sdk.AudioStream(track, { sampleRate, numChannels: 1, frameSizeMs: FRAME_MS });
      onTrack({
        trackId: publication.sid ?? track.sid ?? '',
        identity: participant.identity,
        name: () => participant.name ?? '',
        audio: samplesOf(stream),
      });
    },
  );
}

function subscribe(sdk: RoomSdk, publication: RemoteTrackPublication): void {
  if (publication.kind === sdk.TrackKind.KIND_AUDIO) publication.setSubscribed(true);
}

/** Ending the iteration frees the native stream. */
async function* samplesOf(stream: ReadableStream<AudioFrame>): AsyncGenerator<Int16Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value.data;
  } finally {
    await reader.cancel();
  }
}

/** Receivers see no sender for a stream of a hidden agent, so the caption names the speaker as its sender. */
async function sendCaption(room: Room, caption: Caption): Promise<void> {
  const writer = await room.localParticipant?.streamText({
    topic: CAPTION_TOPIC,
    senderIdentity: caption.identity,
    attributes: {
      'lk.segment_id': caption.segmentId,
      'lk.transcribed_track_id': caption.trackId,
      'lk.transcription_final': String(caption.isFinal),
      'lk.language': caption.language,
    },
  });
  await writer?.write(caption.text);
  await writer?.close();
}
