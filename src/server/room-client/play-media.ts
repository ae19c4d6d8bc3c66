import type { AudioSource, LocalParticipant, LocalTrack, VideoSource } from '@livekit/rtc-node';
import { FRAME_MS, frameLength, type Media, type MediaSource, type Picture } from './media.ts';

type Sdk = typeof import('@livekit/rtc-node');

/** Sound handed over in advance: enough to bridge a busy machine, little enough that a stop is heard soon. */
const QUEUE_MS = 200;
const QUEUED_FRAMES = QUEUE_MS / FRAME_MS;
/** Silence after the end, so that the last word is not cut off by whatever still buffers it. */
const TAIL_FRAMES = 15;
/**
 * Somebody who is there hears a new track only once it is subscribed to: silence goes before, until that is so and a little
 * longer, so that the first word is not lost; but no longer than this, as perhaps nobody wants to hear it.
 */
const MOST_LEAD_FRAMES = 100;
const LEAD_FRAMES = 15;
const SILENT_RATE = 48_000;

export type Playing = {
  readonly source: MediaSource;
  readonly isLooped: boolean;
  /** Whether somebody else is in the room, who is waited for. */
  readonly isAwaited: boolean;
  readonly signal: AbortSignal;
  readonly onPublished: (track: { readonly kind: 'audio' | 'video'; readonly sid: string }) => void;
};

/**
 * Publishes a source and plays it to its end, or until the signal. The room client's queue of sound is the clock:
 * `captureFrame` resolves when there is room in it, and each picture is handed over when the sound beside it is heard. A
 * source without sound is timed by silence that nobody gets.
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
  /** Resolves when somebody is subscribed to one of the tracks. */
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
    await audio.captureFrame(frameOf(sdk, audio, samples));
    // The sound that was handed over now is heard when the queue has been played.
    await pictures?.show((frames - QUEUED_FRAMES) * FRAME_MS);
  }
}

/** A pipe may never have a next frame: the signal ends the wait for it. */
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
    await audio.captureFrame(frameOf(sdk, audio, undefined));
    if (isSubscribed) left -= 1;
  }
}

async function playTail(sdk: Sdk, { audio }: Sink, signal: AbortSignal): Promise<void> {
  for (let frames = 0; frames < TAIL_FRAMES && !signal.aborted; frames += 1) {
    await audio.captureFrame(frameOf(sdk, audio, undefined));
  }
  if (!signal.aborted) await audio.waitForPlayout();
}

/** Silence where there are no samples. */
function frameOf(sdk: Sdk, { sampleRate, numChannels }: AudioSource, samples: Int16Array | undefined) {
  const length = frameLength(sampleRate);
  return new sdk.AudioFrame(samples ?? new Int16Array(length * numChannels), sampleRate, numChannels, length);
}
