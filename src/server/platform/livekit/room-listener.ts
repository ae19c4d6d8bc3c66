import type {
  AudioFrame,
  RemoteParticipant,
  RemoteTrack,
  RemoteTrackPublication,
  Room,
} from '@livekit/rtc-node';
import type { Caption } from './room-audio.ts';
import type { RoomAddress } from './room-audio-messages.ts';

/*
 * Uses LiveKit's room client, https://docs.livekit.io/home/client/. It is an optional dependency with native code that
 * only the processes of a stt-live worker load.
 */

export type RoomSdk = typeof import('@livekit/rtc-node');

export type ListenerEvents = {
  readonly onTrack: (track: ListenedTrack) => void;
  /** Called when the connection ends: the room was closed, we were removed, or the network failed. */
  readonly onClosed: () => void;
};

export type ListenedTrack = {
  readonly trackId: string;
  readonly identity: string;
  /** The participant's current name, which may change during the call. */
  readonly name: () => string;
  /** Mono; ends with the track. */
  readonly audio: AsyncIterable<Int16Array>;
};

export type RoomListener = {
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
