import { HintedError } from '../../contract/hint.ts';

/*
 * The media that a participant publishes: audio in frames of 20 ms and pictures at a fixed rate, both from the same
 * beginning. The player reads each frame when it is due, so that a file is read no faster than it is played.
 */

export const FRAME_MS = 20;

export type Sound = {
  readonly sampleRate: number;
  readonly channels: number;
  /** Interleaved samples. Each frame has FRAME_MS. */
  readonly frames: AsyncIterator<Int16Array>;
};

export type Picture = {
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  /** Planes of YUV 4:2:0, one after the other. */
  readonly frames: AsyncIterator<Uint8Array>;
};

export type Media = {
  readonly sound: Sound | undefined;
  readonly picture: Picture | undefined;
  close(): Promise<void>;
};

export type MediaSource = {
  /** Opens the media from its beginning. A source that exists once, such as standard input, can be opened only once. */
  open(): Promise<Media>;
};

/** Number of samples of one channel in a frame. */
export function frameLength(sampleRate: number): number {
  return (sampleRate * FRAME_MS) / 1000;
}

/** Returns whether a frame is a whole number of samples, and the room client's resampler knows the rate. */
export function isUsualRate(sampleRate: number): boolean {
  return sampleRate >= 8_000 && sampleRate <= 192_000 && Number.isInteger(frameLength(sampleRate));
}

/**
 * Error for a room that cannot be joined, or for a file that cannot be played. `ERR_UNAVAILABLE` may go away later, or after
 * an installation.
 */
export class RoomClientError extends HintedError {
  override readonly name = 'RoomClientError';
  readonly code: 'ERR_UNAVAILABLE' | 'ERR_BAD_MEDIA';

  constructor(
    code: RoomClientError['code'],
    reason: string,
    { cause, ...hint }: { readonly text: string; readonly command?: string; readonly cause?: unknown },
  ) {
    super(reason, hint, { cause });
    this.code = code;
  }
}

/** Error for a file of audio or video that cannot be played as it is. */
export function badMedia(
  reason: string,
  hint: { readonly text: string; readonly command?: string },
): RoomClientError {
  return new RoomClientError('ERR_BAD_MEDIA', reason, hint);
}
