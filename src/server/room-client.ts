import type { Writable } from 'node:stream';
import { requireNativePackages } from './app/native-packages.ts';
import { joinRoom, type RoomClientEnd, type RoomClientNews } from './room-client/join-room.ts';
import { openMedia, type Publication } from './room-client/open-media.ts';
import { LISTENED_RATE } from './room-client/sound-mixer.ts';
import { createWavFile, createWavStream, type WavWriter } from './room-client/wav.ts';

export type RoomVisitOptions = {
  readonly publication: Publication | undefined;
  readonly isLooped: boolean;
  /** Path of a file that does not exist yet, or a stream. */
  readonly listenTo: string | Writable | undefined;
  readonly signal: AbortSignal;
  readonly onNews: (news: RoomClientNews) => void;
  /** Called when everything else is ready. */
  readonly issueToken: () => Promise<{ readonly url: string; readonly token: string }>;
};

/**
 * Runs `rtc rooms join`: stays in a room until the end of the published media, the signal, or the end of the room. Rejects
 * with an error that says what to install when a package or ffmpeg is missing, and with those of files.
 */
export async function visitRoom(options: RoomVisitOptions): Promise<RoomClientEnd> {
  requireNativePackages('rtc rooms join');
  // The room client reads this variable when it is loaded. With another value it prints lines of its own.
  process.env.NODE_ENV = 'production';
  const sdk = await import('@livekit/rtc-node');
  const { publication, isLooped, onNews } = options;
  const media = publication === undefined ? undefined : await openMedia(publication, process.env);
  const { url, token } = await options.issueToken();
  const failed = new AbortController();
  const writer = await openWriter(options.listenTo, (error) => failed.abort(error));
  return await joinRoom(sdk, {
    ...{ url, token, media, isLooped, writer, onNews },
    now: () => performance.now(),
    signal: AbortSignal.any([options.signal, failed.signal]),
  });
}

async function openWriter(
  target: string | Writable | undefined,
  onError: (error: Error) => void,
): Promise<WavWriter | undefined> {
  if (target === undefined) return undefined;
  if (typeof target !== 'string') return createWavStream(target, LISTENED_RATE);
  return await createWavFile(target, { sampleRate: LISTENED_RATE, onError });
}
