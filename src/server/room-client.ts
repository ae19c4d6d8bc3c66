import type { Writable } from 'node:stream';
import type {
  AudioStream,
  DisconnectReason,
  RemoteParticipant,
  RemoteTrack,
  RemoteTrackPublication,
  Room,
} from '@livekit/rtc-node';
import type { RoomVisitEnd, RoomVisitNews } from '../contract/launcher.ts';
import { readAdmission, readClosing } from '../contract/read-service-data.ts';
import { requireNativePackages } from './app/native-packages.ts';
import { hideTokens } from './platform/livekit/errors.ts';
import { toMessage } from './platform/log.ts';
import { FRAME_MS, type MediaSource, RoomClientError } from './room-client/media.ts';
import { openMedia, type Publication } from './room-client/open-media.ts';
import { playMedia } from './room-client/play-media.ts';
import { createWavFile, createWavStream, type WavWriter } from './room-client/wav.ts';

/*
 * A participant without a browser: joins a room with an access token, publishes, listens, and leaves at the end of the
 * published media, at the signal, or when the media server ends the connection.
 */

export type RoomVisitOptions = {
  readonly publication: Publication | undefined;
  readonly isLooped: boolean;
  /** Path of a file that does not exist yet, or a stream. */
  readonly listenTo: string | Writable | undefined;
  /** Makes the participant leave the room. If the reason of the abort is an Error it is thrown. */
  readonly signal: AbortSignal;
  readonly onNews: (news: RoomVisitNews) => void;
  /** Called when everything else is ready. */
  readonly issueToken: () => Promise<RoomToken>;
};

/** `waiting`: it leads into the waiting room. */
type RoomToken = { readonly url: string; readonly token: string; readonly waiting?: boolean };

/**
 * Runs `rtc rooms join`: stays in a room until the end of the published media, the signal, or the end of the room. Rejects
 * with an error that says what to install when a package or ffmpeg is missing, and with the errors of files.
 */
export async function visitRoom(options: RoomVisitOptions): Promise<RoomVisitEnd> {
  requireNativePackages('rtc rooms join');
  // The room client reads this variable when it is loaded. With another value it prints lines of its own.
  process.env.NODE_ENV = 'production';
  const sdk = await import('@livekit/rtc-node');
  const { publication, isLooped, onNews } = options;
  const media = publication === undefined ? undefined : await openMedia(publication, process.env);
  const issued = await options.issueToken();
  const entry = issued.waiting === true ? await waitForAdmission(sdk, issued, options) : issued;
  if (typeof entry === 'string') return entry;
  const { url, token } = entry;
  const failed = new AbortController();
  const writer = await openWriter(options.listenTo, (error) => failed.abort(error));
  return await joinRoom(sdk, {
    url,
    token,
    media,
    isLooped,
    writer,
    onNews,
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

type Sdk = typeof import('@livekit/rtc-node');

type RoomVisit = Pick<RoomVisitOptions, 'isLooped' | 'signal' | 'onNews'> & {
  readonly url: string;
  readonly token: string;
  readonly media: MediaSource | undefined;
  readonly writer: WavWriter | undefined;
  readonly now: () => number;
};

/** @throws RoomClientError when the room cannot be joined; errors of the media */
export async function joinRoom(sdk: Sdk, visit: RoomVisit): Promise<RoomVisitEnd> {
  const room = new sdk.Room();
  const left = Promise.withResolvers<RoomVisitEnd>();
  room.on(sdk.RoomEvent.Disconnected, (reason) => left.resolve(toEnd(sdk, reason)));
  reportPeople(sdk, room, visit);
  const { writer, now, onNews } = visit;
  const listener =
    writer === undefined
      ? undefined
      : listen(sdk, room, { writer, now, onHeard: (identity) => onNews({ type: 'heard', identity }) });
  try {
    await connect(room, visit);
    reportJoined(room, visit);
    listener?.subscribe();
    return await stay({ sdk, room }, visit, left.promise);
  } finally {
    await leave(room, listener);
  }
}

/** Waits in the waiting room. Returns the token of the room, or why it did not come. */
async function waitForAdmission(
  sdk: Sdk,
  { url, token }: RoomToken,
  { signal, onNews }: RoomVisitOptions,
): Promise<RoomToken | RoomVisitEnd> {
  const room = new sdk.Room();
  const { promise, resolve } = Promise.withResolvers<RoomToken | RoomVisitEnd>();
  room.on(sdk.RoomEvent.DataReceived, (...[payload, participant, , topic]) => {
    const admission = readAdmission(payload, { topic, participant });
    if (admission !== undefined) resolve(admission);
  });
  room.on(sdk.RoomEvent.Disconnected, (reason) => {
    const end = toEnd(sdk, reason);
    resolve(end === 'removed' ? 'denied' : end);
  });
  try {
    await connect(room, { url, token, signal });
    onNews({ type: 'waiting' });
    return await Promise.race([promise, stoppedBy(signal)]);
  } finally {
    room.removeAllListeners();
    await room.disconnect();
  }
}

async function connect(
  room: Room,
  { url, token, signal }: Pick<RoomVisit, 'url' | 'token' | 'signal'>,
): Promise<void> {
  try {
    await untilAborted(room.connect(url, token, { autoSubscribe: false, dynacast: false }), signal);
  } catch (cause) {
    const reason = hideTokens(toMessage(cause));
    throw new RoomClientError('ERR_UNAVAILABLE', `the media server at ${url} cannot be joined: ${reason}`, {
      text: 'check whether this machine can reach it',
      command: 'rtc doctor',
      cause: new Error(reason),
    });
  }
}

/** The room client cannot cancel a connection attempt. Objects that it has made by then are released with the room. */
async function untilAborted(connecting: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => aborted.resolve(), { once: true });
  if (signal.aborted) aborted.resolve();
  connecting.catch(() => {});
  await Promise.race([connecting, aborted.promise]);
}

function reportJoined({ name, localParticipant, remoteParticipants }: Room, { onNews }: RoomVisit): void {
  if (localParticipant === undefined) return;
  const others = [...remoteParticipants.values()].map(({ identity }) => identity);
  onNews({ type: 'joined', room: name ?? '', identity: localParticipant.identity, others });
}

function reportPeople(sdk: Sdk, room: Room, { onNews }: RoomVisit): void {
  const { RoomEvent } = sdk;
  room.on(RoomEvent.ParticipantConnected, ({ identity }: RemoteParticipant) =>
    onNews({ type: 'participant_joined', identity }),
  );
  room.on(RoomEvent.ParticipantDisconnected, ({ identity }: RemoteParticipant) =>
    onNews({ type: 'participant_left', identity }),
  );
  // The room client does not tell who sent data and has just left: what it says is shown, and nothing more.
  room.on(RoomEvent.DataReceived, (...[payload, participant, , topic]) => {
    const closing = readClosing(payload, { topic, participant });
    if (closing !== undefined) onNews({ type: 'closing', ...closing });
  });
  room.on(RoomEvent.Reconnecting, () => onNews({ type: 'reconnecting' }));
  room.on(RoomEvent.Reconnected, () => onNews({ type: 'reconnected' }));
}

async function stay(
  { sdk, room }: { readonly sdk: Sdk; readonly room: Room },
  visit: RoomVisit,
  left: Promise<RoomVisitEnd>,
): Promise<RoomVisitEnd> {
  const { localParticipant, remoteParticipants } = room;
  const { media, isLooped, onNews } = visit;
  const ending = new AbortController();
  const signal = AbortSignal.any([visit.signal, ending.signal]);
  const stopped = stoppedBy(visit.signal);
  const played =
    media === undefined || localParticipant === undefined
      ? undefined
      : playMedia(sdk, localParticipant, {
          source: media,
          isLooped,
          isAwaited: remoteParticipants.size > 0,
          signal,
          onPublished: ({ kind, sid }) => onNews({ type: 'published', kind, trackSid: sid }),
        });
  // The promise is awaited below. It also rejects when the connection has ended first.
  const end = played?.then((): RoomVisitEnd => 'played');
  end?.catch(() => {});
  try {
    return await Promise.race([stopped, left, ...(end === undefined ? [] : [end])]);
  } finally {
    ending.abort();
    await played?.catch(() => {});
  }
}

function stoppedBy(signal: AbortSignal): Promise<RoomVisitEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<RoomVisitEnd>();
  const stop = (): void => {
    const { reason } = signal;
    if (reason instanceof Error && reason.name !== 'AbortError') reject(reason);
    else resolve('stopped');
  };
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return promise;
}

async function leave(room: Room, listener: Listener | undefined): Promise<void> {
  await room.disconnect();
  room.removeAllListeners();
  await listener?.close();
}

function toEnd({ DisconnectReason: reasons }: Sdk, reason: DisconnectReason): RoomVisitEnd {
  if (reason === reasons.DUPLICATE_IDENTITY) return 'replaced';
  if (reason === reasons.PARTICIPANT_REMOVED) return 'removed';
  if (reason === reasons.ROOM_DELETED || reason === reasons.ROOM_CLOSED) return 'room-closed';
  return 'disconnected';
}

type Listening = {
  readonly writer: WavWriter;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly onHeard: (identity: string) => void;
};

type Listener = {
  /** Subscribes to the audio of participants who are already in the room. */
  subscribe(): void;
  /** Completes the file. */
  close(): Promise<void>;
};

/** Writes the audio of a room to a file, from now on. Only audio is received, because video would only cost bandwidth. */
function listen(sdk: Sdk, room: Room, { writer, now, onHeard }: Listening): Listener {
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

/*
 * Mixes the tracks of a room into one audio track that is as long as the call. The samples of each track are placed at the
 * time of their arrival, with silence where nobody speaks. Samples are written when no track can change them any more.
 */

export const LISTENED_RATE = 48_000;

/**
 * A track that lags behind by more than this continues at the present, because the network has lost the samples in between.
 */
const MAX_LAG = LISTENED_RATE / 2;

/** Samples are held for this long, because the tracks do not arrive in step. */
const HELD = LISTENED_RATE;

const MAX_PIECE = 10 * LISTENED_RATE;

export type MixedTrack = { add(samples: Int16Array): void };

export class SoundMixer {
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #write: (samples: Int16Array) => void;
  /** Sums of the samples that are not written yet. The first one is at `#written`. */
  #sums = new Int32Array(2 * HELD);
  #written = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number, write: (samples: Int16Array) => void) {
    this.#now = now;
    this.#startedAt = now();
    this.#write = write;
  }

  openTrack(): MixedTrack {
    let position = 0;
    return {
      add: (samples) => {
        const present = this.#position();
        this.#handOut(present - HELD);
        const start = present - samples.length;
        if (position < start - MAX_LAG || position < this.#written) position = Math.max(start, this.#written);
        this.#add(position, samples);
        position += samples.length;
      },
    };
  }

  /** Writes all remaining samples up to the present. */
  end(): void {
    this.#handOut(this.#position());
  }

  #position(): number {
    return Math.round(((this.#now() - this.#startedAt) / 1000) * LISTENED_RATE);
  }

  #add(position: number, samples: Int16Array): void {
    const at = position - this.#written;
    this.#makeRoom(at + samples.length);
    for (const [index, sample] of samples.entries()) {
      this.#sums[at + index] = (this.#sums[at + index] ?? 0) + sample;
    }
  }

  #makeRoom(length: number): void {
    if (length <= this.#sums.length) return;
    const larger = new Int32Array(Math.max(length, 2 * this.#sums.length));
    larger.set(this.#sums);
    this.#sums = larger;
  }

  #handOut(end: number): void {
    while (this.#written < end) {
      const length = Math.min(end - this.#written, MAX_PIECE);
      const piece = new Int16Array(length);
      const held = Math.min(length, this.#sums.length);
      for (let index = 0; index < held; index += 1) piece[index] = clip(this.#sums[index] ?? 0);
      this.#sums.copyWithin(0, held);
      this.#sums.fill(0, this.#sums.length - held);
      this.#written += length;
      this.#write(piece);
    }
  }
}

const MAX_SAMPLE = 32_767;

function clip(sum: number): number {
  return Math.max(-MAX_SAMPLE - 1, Math.min(MAX_SAMPLE, sum));
}
