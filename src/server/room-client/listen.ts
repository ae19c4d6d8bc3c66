import type {
  AudioStream,
  RemoteParticipant,
  RemoteTrack,
  RemoteTrackPublication,
  Room,
} from '@livekit/rtc-node';
import type { Sdk } from './join-room.ts';
import { FRAME_MS } from './media.ts';
import { LISTENED_RATE, SoundMixer } from './sound-mixer.ts';
import type { WavWriter } from './wav.ts';


export type Listening = {
  readonly writer: WavWriter;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly onHeard: (identity: string) => void;
};

export type Listener = {
  /** Subscribes to the audio of participants who are already in the room. */
  subscribe(): void;
  /** Completes the file. */
  close(): Promise<void>;
};

/** Writes the audio of a room to a file, from now on. Only audio is received, because video would only cost bandwidth. */
export function listen(sdk: Sdk, room: Room, { writer, now, onHeard }: Listening): Listener {
  const mixer = new SoundMixer(now, (samples) => writer.write(samples));
  const streams = new Set<AudioStream>();
  const subscribe = (publication: RemoteTrackPublication): void => {
    if (publication.kind === sdk.TrackKind.KIND_AUDIO) publication.setSubscribed(true);
  };
  room.on(sdk.RoomEvent.TrackPublished, subscribe);
  room.on(
    sdk.RoomEvent.TrackSubscribed,
    (track: RemoteTrack, _publication: RemoteTrackPublication, { identity }: RemoteParticipant) => {
      if (track.kind !== sdk.TrackKind.KIND_AUDIO) return;
      const options = { sampleRate: LISTENED_RATE, numChannels: 1, frameSizeMs: FRAME_MS };
      const stream = new sdk.AudioStream(track, options);
      streams.add(stream);
      onHeard(identity);
      void mixIn(mixer, stream).finally(() => streams.delete(stream));
    },
  );
  return {
    subscribe: () => {
      for (const participant of room.remoteParticipants.values()) {
        for (const publication of participant.trackPublications.values()) subscribe(publication);
      }
    },
    close: async () => {
      mixer.end();
      await writer.close();
    },
  };
}

async function mixIn(mixer: SoundMixer, stream: AudioStream): Promise<void> {
  const track = mixer.openTrack();
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) track.add(read.value.data);
}
