import type { Caption } from './room-audio.ts';

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
