import type {
  AudioFrame,
  RemoteParticipant,
  RemoteTrack,
  RemoteTrackPublication,
  Room,
} from '@livekit/rtc-node';
import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../clock.ts';
import { hideTokens } from './errors.ts';
import type { AudioTrack, Caption, JoinRequest, RoomAudioSubscriber, RoomConnection } from './room-audio.ts';
import type { TokenSigner } from './token-signer.ts';

/*
 * Uses LiveKit's room client, https://docs.livekit.io/home/client/. It is an optional dependency with native code that
 * only a stt-live worker loads.
 */

type Sdk = typeof import('@livekit/rtc-node');

export type RoomAudioSubscriberSettings = {
  /** WebSocket URL of the media server. */
  readonly url: string;
  readonly tokenSigner: TokenSigner;
  readonly clock: Clock;
  /** Sample rate of the audio that callers receive. */
  readonly sampleRate: number;
};

/** Longer than any call, so that the token does not end the connection. */
const TOKEN_SECONDS = 24 * 3600;
/** LiveKit's topic for transcriptions, which its client components show as captions. */
const CAPTION_TOPIC = 'lk.transcription';

export async function createRoomAudioSubscriber(
  settings: RoomAudioSubscriberSettings,
): Promise<RoomAudioSubscriber> {
  const sdk = await loadSdk();
  return {
    join: async (request) => await join(sdk, settings, request),
    // The native library is shared by the whole process, so disposing of it here would break other users.
    close: async () => {},
  };
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@livekit/rtc-node');
  } catch (cause) {
    throw new Error(`The package @livekit/rtc-node cannot be loaded on this system: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

async function join(
  sdk: Sdk,
  settings: RoomAudioSubscriberSettings,
  request: JoinRequest,
): Promise<RoomConnection> {
  const room = new sdk.Room();
  subscribeToAudio(sdk, room, { onTrack: request.onTrack, sampleRate: settings.sampleRate });
  room.on(sdk.RoomEvent.Disconnected, request.onClosed);
  try {
    await room.connect(settings.url, await agentToken(settings, request), {
      autoSubscribe: false,
      dynacast: false,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError('media-server-unavailable', 'The room cannot be joined to listen.', {
      cause: new Error(hideTokens(reason)),
      retryable: true,
    });
  }
  for (const participant of room.remoteParticipants.values()) {
    for (const publication of participant.trackPublications.values()) subscribe(sdk, publication);
  }
  return {
    sendCaption: async (caption) => await sendCaption(room, caption),
    leave: async () => {
      room.off(sdk.RoomEvent.Disconnected, request.onClosed);
      await room.disconnect();
    },
  };
}

/** A hidden agent is neither listed nor counted, and does not keep a room open. */
async function agentToken(
  { tokenSigner, clock }: RoomAudioSubscriberSettings,
  request: JoinRequest,
): Promise<string> {
  const issuedAt = Math.floor(clock.now() / 1000);
  return await tokenSigner.sign({
    room: request.room,
    identity: request.identity,
    name: 'Transcription',
    kind: 'agent',
    metadata: undefined,
    attributes: {},
    grants: {
      hidden: true,
      agent: true,
      canPublish: false,
      canSubscribe: true,
      canPublishData: true,
      canUpdateOwnMetadata: false,
      roomAdmin: false,
    },
    issuedAt,
    expiresAt: issuedAt + TOKEN_SECONDS,
  });
}

type AudioOptions = { readonly onTrack: (track: AudioTrack) => void; readonly sampleRate: number };

/** Subscribes to audio tracks only: receiving video would cost bandwidth for nothing. */
function subscribeToAudio(sdk: Sdk, room: Room, options: AudioOptions): void {
  const { onTrack, sampleRate } = options;
  room.on(sdk.RoomEvent.TrackPublished, (publication) => subscribe(sdk, publication));
  room.on(
    sdk.RoomEvent.TrackSubscribed,
    (track: RemoteTrack, publication: RemoteTrackPublication, participant: RemoteParticipant) => {
      if (track.kind !== sdk.TrackKind.KIND_AUDIO) return;
      onTrack({
        trackId: publication.sid ?? track.sid ?? '',
        identity: participant.identity,
        name: () => participant.name ?? '',
        audio: samplesOf(new sdk.AudioStream(track, sampleRate, 1)),
      });
    },
  );
}

function subscribe(sdk: Sdk, publication: RemoteTrackPublication): void {
  if (publication.kind === sdk.TrackKind.KIND_AUDIO) publication.setSubscribed(true);
}

/** Ending the iteration frees the native stream. */
async function* samplesOf(stream: ReadableStream<AudioFrame>): AsyncGenerator<Float32Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      yield Float32Array.from(read.value.data, (sample) => sample / 32_768);
    }
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

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
