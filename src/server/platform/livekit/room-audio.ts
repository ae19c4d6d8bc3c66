/*
 * Listening in a room: as a hidden agent that hears every audio track by itself, and can show captions. One
 * connection per transcription; it reconnects by itself as long as the room is there.
 */
export interface RoomListener {
  /** Rejects with ServiceError media-server-unavailable when the room cannot be joined. */
  join(request: ListenRequest): Promise<RoomEar>;
  close(): Promise<void>;
}

export type ListenRequest = {
  readonly room: string;
  /** The same for every listener of a transcription: a second one takes the place of the first. */
  readonly identity: string;
  readonly onTrack: (track: HeardTrack) => void;
  /** The connection is over: the room was closed, we were removed, or it could not be kept up. */
  readonly onClosed: () => void;
};

export type HeardTrack = {
  readonly trackId: string;
  readonly identity: string;
  /** The participant's name at this moment: people rename themselves. */
  readonly name: () => string;
  /** 16 kHz, mono, from -1 to 1; ends when the track does. Silence, or nothing at all, while it is muted. */
  readonly audio: AsyncIterable<Float32Array>;
};

export interface RoomEar {
  /** Resolves when it was sent; a caption that cannot be sent is no reason to stop listening. */
  showCaption(caption: Caption): Promise<void>;
  leave(): Promise<void>;
}

export type Caption = {
  /** The same for all interim results of a segment and its final. */
  readonly segmentId: string;
  readonly trackId: string;
  /** Whose words they are. */
  readonly identity: string;
  readonly text: string;
  readonly language: string;
  readonly isFinal: boolean;
};
