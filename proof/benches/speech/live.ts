import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  type RemoteTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node';
import { AccessToken } from 'livekit-server-sdk';
import { RtcClient } from '../../../src/client/index.ts';
import { readMembers } from '../../../src/contract/unknown-value.ts';
import { LAUNCHER } from '../../../test/support/parts/built.ts';
import { speakToFile } from '../../../test/support/parts/speech.ts';
import type { SpeechStage } from './stage.ts';
import { type Passage, StageClock } from './stage-clock.ts';

const SENTENCES = [
  'The children are playing in the garden behind the old house.',
  'Please remember to bring your passport and your ticket to the airport.',
  'We are going to visit my grandmother in the hospital this afternoon.',
  'The new computer is much faster than the one I bought last year.',
  'Nobody knows what the future will bring.',
];

const SPEAKERS = 5;

const UTTERANCES = 12;

const PAUSE_MS = 1_500;

const JOIN_ATTEMPTS = 5;

export const SPEAKER_RATE = 22_050;

const FRAME = Math.round(SPEAKER_RATE / 50);

const FRAME_MS = (FRAME / SPEAKER_RATE) * 1000;

/** A segment belongs to the utterance with the nearest end. */
const NEAR_MS = 1_500;

export type LiveFigures = {
  /** The stages of each utterance that was transcribed. */
  readonly passages: readonly Passage[];
  readonly utterances: number;
  readonly peakBytes: number;
};

/** Lets five people speak at the same time, each with their own pauses, while a reader follows the transcription. */
export async function measureLive(stage: SpeechStage): Promise<LiveFigures> {
  const stages = new StageClock();
  const worker = await stage.startWorker('stt-live', (line) => stages.logged(line));
  const url = await stage.startService();
  const sentences = await Promise.all(SENTENCES.map((text, index) => synthesise(stage, text, index)));
  const room = `bench-${randomUUID()}`;
  const { livekit, store } = stage;
  const listener = await listenAlong(livekit, room);
  const speakers = await Promise.all(
    Array.from({ length: SPEAKERS }, (_, index) => joinSpeaker(livekit, room, `speaker-${index}`)),
  );
  const id = `tr_${randomUUID()}`;
  await store.transcriptions.startLive({
    ...{ id, room, language: 'en', speakers: {}, createdAt: Date.now() },
    options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
  });
  const readers = startReaders(stage, { url, room, stages });
  await delay(3_000);
  const ends = await Promise.all(speakers.map((speaker, index) => speaker.speak(sentences, index)));
  await delay(5_000);
  const segments = await store.transcriptions.listSegments(id, { limit: 1000 });
  await Promise.all(speakers.map((speaker) => speaker.leave()));
  const peakBytes = worker.peakBytes();
  await store.transcriptions.stopLive(id, Date.now());
  await readers.ended;
  await listener.leave();
  await worker.close();
  const passages = ends.flatMap((ofSpeaker, index) =>
    ofSpeaker.flatMap((endedAt) => {
      const identity = `speaker-${index}`;
      const near = segments.filter(
        (one) => one.identity === identity && Math.abs(one.endedAt - endedAt) < NEAR_MS,
      );
      const ids = near.map((one) => one.id);
      return stages.findPassage({ endedAt, heardAt: listener.heardAt(identity, endedAt), ids });
    }),
  );
  return { passages, utterances: SPEAKERS * UTTERANCES, peakBytes };
}

/** Synthesises sentences without silence at their ends, so that the end of the sound is known. */
export async function synthesise({ folder }: SpeechStage, text: string, index: number): Promise<Int16Array> {
  const path = join(folder, `${index}.wav`);
  await speakToFile({ text, path });
  const file = await readFile(path);
  const samples = new Int16Array(
    file.buffer.slice(file.byteOffset + 44, file.byteOffset + file.length - (file.length % 2)),
  );
  const isSound = (sample: number): boolean => Math.abs(sample) > 300;
  return samples.subarray(samples.findIndex(isSound), samples.findLastIndex(isSound) + 1);
}

export async function joinSpeaker(
  { url, apiKey, apiSecret }: SpeechStage['livekit'],
  room: string,
  identity: string,
) {
  const token = new AccessToken(apiKey, apiSecret, { identity });
  token.addGrant({ roomJoin: true, room });
  const joined = await connect(url, await token.toJwt());
  const source = new AudioSource(SPEAKER_RATE, 1, 100);
  const track = LocalAudioTrack.createAudioTrack('microphone', source);
  const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
  await joined.localParticipant?.publishTrack(track, options);
  const send = async (samples: Int16Array): Promise<void> => {
    for (let at = 0; at < samples.length; at += FRAME) {
      const frame = new Int16Array(FRAME);
      frame.set(samples.subarray(at, at + FRAME));
      await source.captureFrame(new AudioFrame(frame, SPEAKER_RATE, 1, FRAME));
    }
  };
  return {
    /** The sample rate is SPEAKER_RATE. */
    send,
    say: async (samples: Int16Array): Promise<void> => {
      await send(noise(PAUSE_MS));
      await send(samples);
      await send(noise(PAUSE_MS));
    },
    /** Resolves to the end of each utterance: the time at which the last queued frame was played. */
    speak: async (sentences: readonly Int16Array[], offset: number): Promise<readonly number[]> => {
      const ends: number[] = [];
      await send(noise(PAUSE_MS + offset * 300));
      for (let index = 0; index < UTTERANCES; index += 1) {
        const sentence = sentences[(index + offset) % sentences.length] ?? new Int16Array();
        await send(sentence);
        const padding = (FRAME - (sentence.length % FRAME)) % FRAME;
        ends.push(Date.now() + source.queuedDuration - (padding / FRAME) * FRAME_MS);
        await send(noise(PAUSE_MS));
      }
      return ends;
    },
    leave: async () => {
      await track.close();
      await joined.disconnect();
    },
  };
}

/** On a busy machine an attempt may time out. That must not end a bench of an hour. */
async function connect(url: string, token: string): Promise<Room> {
  for (let attempt = 1; ; attempt += 1) {
    const room = new Room();
    try {
      await room.connect(url, token, { autoSubscribe: false, dynacast: false });
      return room;
    } catch (error) {
      await room.disconnect();
      if (attempt === JOIN_ATTEMPTS) throw error;
    }
  }
}

/** Noise of a quiet room, as a microphone picks it up. */
function noise(ms: number): Int16Array {
  return Int16Array.from(
    { length: Math.round((SPEAKER_RATE * ms) / 1000) },
    (_, index) => ((index * 7919) % 13) - 6,
  );
}

const RATE = 16_000;

/** Above the noise between the sentences. */
const LOUD = 300;

/** The last sound of an utterance arrives within this time, and the next utterance begins later. */
const ARRIVES_WITHIN_MS = 1_000;

/** A plain listener that notes when sound arrives. The network and the room client cause this part of the delay. */
async function listenAlong({ url, apiKey, apiSecret }: SpeechStage['livekit'], room: string) {
  const loudAt = new Map<string, number[]>();
  const token = new AccessToken(apiKey, apiSecret, { identity: 'listener' });
  token.addGrant({ roomJoin: true, room, canPublish: false });
  const joined = new Room();
  joined.on(RoomEvent.TrackSubscribed, (track: RemoteTrack, _publication, { identity }) => {
    void noteSound(track, (at) => loudAt.set(identity, [...(loudAt.get(identity) ?? []), at]));
  });
  await joined.connect(url, await token.toJwt(), { autoSubscribe: true, dynacast: false });
  return {
    /** Returns when the last sound of the utterance that ended at `endedAt` arrived. */
    heardAt: (identity: string, endedAt: number): number =>
      Math.max(...(loudAt.get(identity) ?? []).filter((at) => at <= endedAt + ARRIVES_WITHIN_MS)),
    leave: () => joined.disconnect(),
  };
}

async function noteSound(track: RemoteTrack, note: (at: number) => void): Promise<void> {
  const stream = new AudioStream(track, { sampleRate: RATE, numChannels: 1, frameSizeMs: 20 });
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (read.value.data.some((sample) => Math.abs(sample) > LOUD)) note(Date.now());
  }
}

type FollowedRoom = { readonly url: string; readonly room: string; readonly stages: StageClock };

/** Starts `rtc transcription follow`, and separately the client library that it uses. Both end with the transcription. */
function startReaders({ environment }: SpeechStage, { url, room, stages }: FollowedRoom) {
  const { API_KEY: apiKey = '', API_SECRET: apiSecret = '' } = environment;
  const child = spawn(process.execPath, [LAUNCHER, 'transcription', 'follow', room, '--json'], {
    env: { ...environment, RTC_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface(child.stdout).on('line', (line) =>
    stages.printed(String(readMembers(JSON.parse(line)).id)),
  );
  const client = new RtcClient({ url, apiKey, apiSecret });
  const reading = (async () => {
    for await (const { id } of client.transcription.follow(room)) stages.read(id);
    await client.close();
  })();
  return { ended: Promise.all([reading, once(child, 'exit')]) };
}

const SHORT_SENTENCES = [
  'The children are playing in the garden.',
  'Nobody knows what the future will bring.',
  'Please remember to bring your passport.',
];

const CLAIM_POLL_MS = 50;

export type CallsSettings = {
  readonly calls: number;
  /** Called after each call with its number and the worker's resident memory in bytes. */
  readonly onCall: (call: number, residentBytes: number) => void;
};

/**
 * Makes short calls of three people, one after the other. Each has its own room, and each person says one sentence. Returns
 * the number of segments.
 */
export async function measureCalls(stage: SpeechStage, { calls, onCall }: CallsSettings): Promise<number> {
  const worker = await stage.startWorker('stt-live');
  const sentences = await Promise.all(SHORT_SENTENCES.map((text, index) => synthesise(stage, text, index)));
  let segments = 0;
  for (let call = 1; call <= calls; call += 1) {
    segments += await holdCall(stage, sentences);
    onCall(call, worker.residentBytes());
  }
  await worker.close();
  return segments;
}

async function holdCall({ livekit, store }: SpeechStage, sentences: readonly Int16Array[]): Promise<number> {
  const room = `bench-${randomUUID()}`;
  const id = `tr_${randomUUID()}`;
  const speakers = await Promise.all(
    sentences.map((_, index) => joinSpeaker(livekit, room, `speaker-${index}`)),
  );
  await store.transcriptions.startLive({
    ...{ id, room, language: 'en', speakers: {}, createdAt: Date.now() },
    options: { partialResults: true, captions: true, punctuation: true, profanityFilter: false },
  });
  while ((await store.transcriptions.find(id))?.leaseOwner === null) await delay(CLAIM_POLL_MS);
  await Promise.all(speakers.map((speaker, index) => speaker.say(sentences[index] ?? new Int16Array())));
  await Promise.all(speakers.map((speaker) => speaker.leave()));
  await store.transcriptions.stopLive(id, Date.now());
  return await store.transcriptions.countSegments(id);
}
