import type { AudioSource, LocalParticipant, LocalTrack, VideoSource } from '@livekit/rtc-node';
import { FRAME_MS, frameLength, type Media, type MediaSource, type Picture } from './media.ts';

type Sdk = typeof import('@livekit/rtc-node');

/** Audio that is queued in advance: enough to bridge a busy machine, and little enough that a stop takes effect soon. */
const QUEUE_MS = 200;
const QUEUED_FRAMES = QUEUE_MS / FRAME_MS;
/** Frames of silence after the end, so that a buffer does not cut off the last word. */
const TAIL_FRAMES = 15;
/**
 * Maximum frames of silence before the media. A participant in the room hears a new track only after subscribing to it.
 * Therefore silence precedes the media until then and a little longer, so that the first word is not lost; but not longer
 * than this, because perhaps nobody wants to listen.
 */
const MOST_LEAD_FRAMES = 100;
const LEAD_FRAMES = 15;
const SILENT_RATE = 48_000;

export type Playing = {
  readonly source: MediaSource;
  readonly isLooped: boolean;
  /** Whether another participant is in the room, whose subscription is awaited. */
  readonly isAwaited: boolean;
  readonly signal: AbortSignal;
  readonly onPublished: (track: { readonly kind: 'audio' | 'video'; readonly sid: string }) => void;
};

/**
 * Publishes a source and plays it to its end, or until the signal. The room client's audio queue is the clock:
 * `captureFrame` resolves when the queue has space, and each picture is sent when the audio beside it is played. A source
 * without audio is timed by silence that is not published.
 */
export async function playMedia(sdk: Sdk, participant: LocalParticipant, playing: Playing): Promise<void> {
  const { source, isLooped, isAwaited, signal, onPublished } = playing;
  let media = await source.open();
  const sink = await publish(sdk, participant, { media, onPublished }).catch(async (error: unknown) => {
    await media.close();
    throw error;
  });
  try {
    if (isAwaited) await playLead(sdk, sink, signal);
    for (;;) {
      await playOnce(sdk, { media, sink }, signal);
      if (!isLooped || signal.aborted) break;
      await media.close();
      media = await source.open();
    }
    if (!signal.aborted) await playTail(sdk, sink, signal);
  } finally {
    await media.close();
    await sink.close();
  }
}

type Sink = {
  readonly audio: AudioSource;
  readonly video: VideoSource | undefined;
  /** Resolves when a participant has subscribed to one of the tracks. */
  readonly subscribed: Promise<void>;
  close(): Promise<void>;
};

async function publish(
  sdk: Sdk,
  participant: LocalParticipant,
  { media: { sound, picture }, onPublished }: Pick<Playing, 'onPublished'> & { readonly media: Media },
): Promise<Sink> {
  const audio = new sdk.AudioSource(sound?.sampleRate ?? SILENT_RATE, sound?.channels ?? 1, QUEUE_MS);
  const video = picture === undefined ? undefined : new sdk.VideoSource(picture.width, picture.height);
  const tracks: LocalTrack[] = [];
  const subscribed = Promise.withResolvers<void>();
  const close = async (): Promise<void> => {
    for (const track of tracks) await track.close();
    if (sound === undefined) await audio.close();
  };
  const add = async (kind: 'audio' | 'video', track: LocalTrack): Promise<void> => {
    tracks.push(track);
    const { SOURCE_CAMERA, SOURCE_MICROPHONE } = sdk.TrackSource;
    const options = new sdk.TrackPublishOptions({
      source: kind === 'audio' ? SOURCE_MICROPHONE : SOURCE_CAMERA,
      simulcast: false,
    });
    const publication = await participant.publishTrack(track, options);
    void publication.waitForSubscription().then(subscribed.resolve);
    onPublished({ kind, sid: publication.sid ?? '' });
  };
  try {
    if (sound !== undefined) await add('audio', sdk.LocalAudioTrack.createAudioTrack('microphone', audio));
    if (video !== undefined) await add('video', sdk.LocalVideoTrack.createVideoTrack('camera', video));
  } catch (error) {
    await close();
    throw error;
  }
  return { audio, video, subscribed: subscribed.promise, close };
}

type Played = { readonly media: Media; readonly sink: Sink };

async function playOnce(sdk: Sdk, { media, sink }: Played, signal: AbortSignal): Promise<void> {
  const { sound } = media;
  const { audio, video } = sink;
  const pictures =
    media.picture === undefined || video === undefined
      ? undefined
      : new PictureQueue(sdk, media.picture, video);
  let hasSound = sound !== undefined;
  for (let frames = 0; !signal.aborted; frames += 1) {
    const next =
      sound !== undefined && hasSound ? await untilAborted(sound.frames.next(), signal) : undefined;
    hasSound = next !== undefined && next.done !== true;
    const samples = next !== undefined && next.done !== true ? next.value : undefined;
    if (samples === undefined && (pictures === undefined || pictures.isAtEnd)) return;
    await audio.captureFrame(toAudioFrame(sdk, audio, samples));
    // Audio that was queued now is played when the queue before it has been played.
    await pictures?.show((frames - QUEUED_FRAMES) * FRAME_MS);
  }
}

/** A pipe may never have a next frame, so the signal ends the wait for it. */
async function untilAborted<T>(next: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = (): void => aborted.resolve(undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([next, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Shows each picture when it is due. */
class PictureQueue {
  readonly #sdk: Sdk;
  readonly #picture: Picture;
  readonly #video: VideoSource;
  #shown = 0;
  isAtEnd = false;

  constructor(sdk: Sdk, picture: Picture, video: VideoSource) {
    this.#sdk = sdk;
    this.#picture = picture;
    this.#video = video;
  }

  async show(positionMs: number): Promise<void> {
    const { frames, framesPerSecond, width, height } = this.#picture;
    while (!this.isAtEnd && (this.#shown * 1000) / framesPerSecond <= positionMs) {
      const { value, done } = await frames.next();
      if (done === true) {
        this.isAtEnd = true;
        return;
      }
      this.#shown += 1;
      const { VideoFrame, VideoBufferType } = this.#sdk;
      this.#video.captureFrame(new VideoFrame(value, width, height, VideoBufferType.I420));
    }
  }
}

async function playLead(sdk: Sdk, { audio, subscribed }: Sink, signal: AbortSignal): Promise<void> {
  let isSubscribed = false;
  void subscribed.then(() => {
    isSubscribed = true;
  });
  let left = LEAD_FRAMES;
  for (let frames = 0; frames < MOST_LEAD_FRAMES && left > 0 && !signal.aborted; frames += 1) {
    await audio.captureFrame(toAudioFrame(sdk, audio, undefined));
    if (isSubscribed) left -= 1;
  }
}

async function playTail(sdk: Sdk, { audio }: Sink, signal: AbortSignal): Promise<void> {
  for (let frames = 0; frames < TAIL_FRAMES && !signal.aborted; frames += 1) {
    await audio.captureFrame(toAudioFrame(sdk, audio, undefined));
  }
  if (!signal.aborted) await audio.waitForPlayout();
}

/** Returns a frame of silence without samples. */
function toAudioFrame(sdk: Sdk, { sampleRate, numChannels }: AudioSource, samples: Int16Array | undefined) {
  const length = frameLength(sampleRate);
  return new sdk.AudioFrame(samples ?? new Int16Array(length * numChannels), sampleRate, numChannels, length);
}
