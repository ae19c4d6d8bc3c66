import { readFile } from 'node:fs/promises';
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  type LocalTrackPublication,
  type RemoteParticipant,
  type RemoteTrack,
  type RemoteTrackPublication,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node';

/** A real participant in a real room. */
export interface JoinedParticipant {
  readonly room: Room;
  readonly identity: string;
  /**
   * Publishes a sine tone as the microphone, until the participant leaves. Without the grant it rejects after 10 s, because
   * the server does not respond to such a request and the client waits that long.
   */
  publishTone(tone?: { readonly frequencyHz?: number; readonly amplitude?: number }): Promise<PublishedAudio>;
  /** Publishes a 16-bit PCM WAV file as the microphone, followed by silence. `played` resolves at its end. */
  publishWav(path: string): Promise<PublishedAudio>;
  /** Publishes the microphone muted, as people do who join a call muted. The sound begins when it is unmuted. */
  publishMutedWav(path: string): Promise<MutedAudio>;
  leave(): Promise<void>;
}

export interface PublishedAudio {
  readonly sid: string;
  readonly publication: LocalTrackPublication;
  /** Resolves when all sound has been handed over to the track; for a tone, when the participant leaves. */
  readonly played: Promise<void>;
}

export interface MutedAudio {
  readonly sid: string;
  /** Unmutes and plays. Resolves when all sound has been handed over. */
  unmute(): Promise<void>;
}

/** A whole number of samples at every usual rate, including espeak-ng's 22,050 Hz. */
const frameMs = 20;
const toneSampleRate = 48_000;
/**
 * Sound that is handed over in advance: enough for a pause on a busy machine, and little enough that a stop is soon heard.
 */
const toneQueueMs = 200;
/** A file is not stopped before its end, so more of it is handed over in advance: a pause of a second leaves no gap. */
const wavQueueMs = 2_000;
const eventDeadlineMs = 60_000;
const largestSample = 32_767;

/**
 * Joins with a token; rejects if the server refuses it. Call `leave` at the end. The WebRTC library keeps a process alive
 * even then: a script outside of vitest ends with a call of its `dispose`, or with process.exit.
 */
export async function join(url: string, token: string): Promise<JoinedParticipant> {
  const room = new Room();
  await room.connect(url, token, { autoSubscribe: true, dynacast: false });
  const identity = room.localParticipant?.identity ?? '';
  const left = new AbortController();
  const players: Promise<void>[] = [];
  const publish = async (sound: Sound) => {
    const published = await publishSound(room, sound, left.signal);
    players.push(published.played);
    return published;
  };
  return {
    room,
    identity,
    publishTone: (tone = {}) => publish(toneSound(tone)),
    publishWav: async (path) => publish(wavSound(await readFile(path))),
    publishMutedWav: async (path) => {
      const sound = wavSound(await readFile(path));
      const { source, track, publication } = await publishMicrophone(room, sound, { isMuted: true });
      return {
        sid: publication.sid ?? '',
        unmute: async () => {
          setMuted(track, { isMuted: false });
          const played = play(source, sound, left.signal).finally(() => track.close());
          played.catch(() => {});
          players.push(played);
          await played;
        },
      };
    },
    async leave() {
      left.abort();
      await Promise.all(players);
      await room.disconnect();
    },
  };
}

/** Sound as frames of {@link frameMs}. */
interface Sound {
  readonly sampleRate: number;
  readonly channels: number;
  readonly frames: Iterable<Int16Array>;
  /** How much of it is handed over in advance. */
  readonly queueMs: number;
}

async function publishSound(room: Room, sound: Sound, left: AbortSignal): Promise<PublishedAudio> {
  const { source, track, publication } = await publishMicrophone(room, sound, { isMuted: false });
  const played = play(source, sound, left).finally(() => track.close());
  // A caller that does not wait for the end of the sound gets an error from `leave`.
  played.catch(() => {});
  return { sid: publication.sid ?? '', publication, played };
}

async function publishMicrophone(room: Room, sound: Sound, { isMuted }: { readonly isMuted: boolean }) {
  const participant = room.localParticipant;
  if (!participant) throw new Error('the participant has left the room');
  const source = new AudioSource(sound.sampleRate, sound.channels, sound.queueMs);
  const track = LocalAudioTrack.createAudioTrack('microphone', source);
  if (isMuted) setMuted(track, { isMuted });
  const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
  const publication = await participant.publishTrack(track, options).catch(async (cause) => {
    await track.close();
    throw cause;
  });
  return { source, track, publication };
}

/** The client's native part can mute, but its Node part has no method for it. */
function setMuted(track: LocalAudioTrack, { isMuted: mute }: { readonly isMuted: boolean }): void {
  const value = { trackHandle: track.ffi_handle.handle, mute };
  globalThis._ffiClientInstance?.request({ message: { case: 'localTrackMute', value } });
}

async function play(source: AudioSource, sound: Sound, left: AbortSignal): Promise<void> {
  for (const samples of sound.frames) {
    if (left.aborted) return;
    const frame = new AudioFrame(samples, sound.sampleRate, sound.channels, samples.length / sound.channels);
    // Resolves when the queue has room, so this loop runs at the speed of the sound.
    await source.captureFrame(frame);
  }
  await source.waitForPlayout();
}

function toneSound(tone: { readonly frequencyHz?: number; readonly amplitude?: number }): Sound {
  const { frequencyHz = 440, amplitude = 0.5 } = tone;
  const frameLength = (toneSampleRate * frameMs) / 1000;
  function* frames() {
    for (let start = 0; ; start += frameLength) {
      yield Int16Array.from({ length: frameLength }, (_, index) => {
        const seconds = (start + index) / toneSampleRate;
        return Math.round(amplitude * largestSample * Math.sin(2 * Math.PI * frequencyHz * seconds));
      });
    }
  }
  return { sampleRate: toneSampleRate, channels: 1, frames: frames(), queueMs: toneQueueMs };
}

/** Reads RIFF/WAVE with 16-bit PCM samples, as espeak-ng and ffmpeg write it. */
function wavSound(file: Buffer): Sound {
  const chunk = (name: string): Buffer => {
    for (
      let at = 12;
      at + 8 <= file.length;
      at += 8 + file.readUInt32LE(at + 4) + (file.readUInt32LE(at + 4) % 2)
    ) {
      // A program that writes to a pipe does not know the length and writes one that is too large. subarray cuts it.
      if (file.toString('latin1', at, at + 4) === name) {
        return file.subarray(at + 8, at + 8 + file.readUInt32LE(at + 4));
      }
    }
    throw new Error(`the WAV file has no chunk "${name}"`);
  };
  const format = chunk('fmt ');
  const [encoding, channels, sampleRate, bits] = [0, 2, 4, 14].map((at) =>
    at === 4 ? format.readUInt32LE(at) : format.readUInt16LE(at),
  ) as [number, number, number, number];
  if (encoding !== 1 || bits !== 16) throw new Error('the WAV file is not 16-bit PCM');
  const data = chunk('data');
  const samples = new Int16Array(
    data.buffer.slice(data.byteOffset, data.byteOffset + data.length - (data.length % 2)),
  );
  const frameLength = Math.floor((sampleRate * frameMs) / 1000) * channels;
  function* frames() {
    for (let at = 0; at < samples.length; at += frameLength) {
      const frame = new Int16Array(frameLength);
      frame.set(samples.subarray(at, at + frameLength));
      yield frame;
    }
  }
  return { sampleRate, channels, frames: frames(), queueMs: wavQueueMs };
}

/** A received audio track and its publisher. */
export interface AudioTrack {
  readonly track: RemoteTrack;
  readonly publication: RemoteTrackPublication;
  readonly participant: RemoteParticipant;
}

export interface HeardTrackQuery {
  readonly identity: string;
  readonly kind?: TrackKind;
  readonly deadlineMs?: number;
}

/** Waits until the listener receives a track of that participant. Default: audio. */
export async function subscribedTrack(
  listener: JoinedParticipant,
  query: HeardTrackQuery,
): Promise<AudioTrack> {
  const { identity, kind = TrackKind.KIND_AUDIO, deadlineMs = eventDeadlineMs } = query;
  const present = listener.room.remoteParticipants.get(identity);
  for (const publication of present?.trackPublications.values() ?? []) {
    const track = publication.track as RemoteTrack | undefined;
    if (present && track && publication.kind === kind) return { track, publication, participant: present };
  }
  return new Promise((resolve, reject) => {
    const onSubscribed = (
      track: RemoteTrack,
      publication: RemoteTrackPublication,
      participant: RemoteParticipant,
    ) => {
      if (participant.identity !== identity || track.kind !== kind) return;
      clearTimeout(deadline);
      listener.room.off(RoomEvent.TrackSubscribed, onSubscribed);
      resolve({ track, publication, participant });
    };
    const deadline = setTimeout(() => {
      listener.room.off(RoomEvent.TrackSubscribed, onSubscribed);
      reject(new Error(`no track of ${identity} within ${deadlineMs} ms`));
    }, deadlineMs);
    listener.room.on(RoomEvent.TrackSubscribed, onSubscribed);
  });
}

export interface LoudnessQuery {
  /** Whether the RMS level (0 to 1, of full scale) of a window is as expected. */
  readonly accepts: (level: number) => boolean;
  /** Length of the sound over which one level is measured. */
  readonly windowMs?: number;
  /** Number of consecutive windows that must be accepted, so that a gap is not mistaken for silence. */
  readonly windows?: number;
  readonly deadlineMs?: number;
}

/**
 * Listens until the received sound is accepted. Returns the last level. A muted track sends no packets: then the receiver
 * delivers frames of silence, which this measures. @throws Error at the deadline, with the measured levels.
 */
export async function untilLoudness(heard: Pick<AudioTrack, 'track'>, query: LoudnessQuery): Promise<number> {
  const { accepts, windowMs = 100, windows = 3, deadlineMs = eventDeadlineMs } = query;
  const reader = new AudioStream(heard.track, {
    sampleRate: toneSampleRate,
    numChannels: 1,
    frameSizeMs: windowMs,
  }).getReader();
  const levels: number[] = [];
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    void reader.cancel();
  }, deadlineMs);
  try {
    for (let accepted = 0; accepted < windows; ) {
      const { value: frame, done } = await reader.read();
      if (done)
        throw new Error(
          `the sound was not as asked within ${deadlineMs} ms${late ? '' : ' (it ended)'}: levels ${describe(levels)}`,
        );
      const level = rmsLevel(frame.data);
      levels.push(level);
      accepted = accepts(level) ? accepted + 1 : 0;
    }
    return levels.at(-1) ?? 0;
  } finally {
    clearTimeout(deadline);
    await reader.cancel();
  }
}

/** Whether sound cannot be mistaken for silence: above -40 dB of full scale. */
export function isAudible(level: number): boolean {
  return level > 0.01;
}

/** Whether sound is as quiet as a muted track: below -60 dB of full scale. */
export function isSilent(level: number): boolean {
  return level < 0.001;
}

function rmsLevel(samples: Int16Array): number {
  const sum = samples.reduce((total, sample) => total + (sample / largestSample) ** 2, 0);
  return Math.sqrt(sum / samples.length);
}

function describe(levels: readonly number[]): string {
  return levels
    .slice(-10)
    .map((level) => level.toFixed(4))
    .join(', ');
}
