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
