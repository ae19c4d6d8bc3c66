/*
 * Subscribes to the audio tracks of rooms as a hidden agent, which can also send captions. Each transcription has a
 * connection of its own.
 */
export interface RoomAudioSubscriber {
  /** Joins a room. Rejects with ServiceError media-server-unavailable when that fails. */
  join(request: JoinRequest): Promise<RoomConnection>;
  close(): Promise<void>;
}

export type JoinRequest = {
  readonly room: string;
  /**
   * The same for every connection of a transcription: LiveKit disconnects the first participant when a second one of this
   * identity joins.
   */
  readonly identity: string;
  readonly onTrack: (track: AudioTrack) => void;
  /** Called when the connection ends: the room was closed, we were removed, or the network failed. */
  readonly onClosed: () => void;
};

export type AudioTrack = {
  readonly trackId: string;
  readonly identity: string;
  /** The participant's current name, which may change during the call. */
  readonly name: () => string;
  /** 16 kHz, mono, from -1 to 1; ends with the track. A muted track sends silence or nothing. */
  readonly audio: AsyncIterable<Float32Array>;
};

export interface RoomConnection {
  /** Sends a caption to everyone in the room. Rejects when it cannot be sent; the connection stays usable. */
  sendCaption(caption: Caption): Promise<void>;
  leave(): Promise<void>;
}

export type Caption = {
  /** Id of the segment, the same for all its interim captions and its final one. */
  readonly segmentId: string;
  readonly trackId: string;
  /** Identity of the speaker. */
  readonly identity: string;
  readonly text: string;
  readonly language: string;
  readonly isFinal: boolean;
};

/*
 * Messages between a worker and a process that listens to rooms for it. `connection`, `track` and `caption` are numbers that
 * the sender of the first message about each has chosen.
 */

export type ListenerRequest =
  | { readonly kind: 'join'; readonly connection: number; readonly room: RoomAddress }
  | { readonly kind: 'caption'; readonly connection: number; readonly id: number; readonly caption: Caption }
  | { readonly kind: 'leave'; readonly connection: number };

export type RoomAddress = {
  /** WebSocket URL of the media server. */
  readonly url: string;
  readonly token: string;
  /** Sample rate of the audio that is sent. */
  readonly sampleRate: number;
};

export type ListenerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'joined'; readonly connection: number }
  | { readonly kind: 'refused'; readonly connection: number; readonly reason: string }
  | {
      readonly kind: 'track';
      readonly connection: number;
      readonly track: number;
      readonly trackId: string;
      readonly identity: string;
    }
  /** Sent before the first samples of a track, and when the participant's name has changed. */
  | { readonly kind: 'name'; readonly track: number; readonly name: string }
  | { readonly kind: 'samples'; readonly track: number; readonly samples: Int16Array }
  | { readonly kind: 'track-ended'; readonly track: number }
  | { readonly kind: 'caption-sent'; readonly id: number; readonly error: string | undefined }
  | { readonly kind: 'closed'; readonly connection: number }
  | { readonly kind: 'left'; readonly connection: number };
