import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SAMPLE_RATE } from '../../../../../src/server/transcription/engines/speech.ts';
import { speakToFile } from '../../../../support/parts/speech.ts';

/** A turn: one person speaks. */
export type ScriptedTurn = {
  readonly identity: string;
  /** Milliseconds since the beginning of the call. */
  readonly from: number;
  readonly to: number;
};

export type ScriptedCall = {
  readonly turns: readonly ScriptedTurn[];
  /** The microphone of each person, as long as the call. */
  readonly tracks: ReadonlyMap<string, Float32Array>;
  /** The mix of all microphones, as a recorder hears it. */
  readonly mixed: Float32Array;
};

const VOICES: Readonly<Record<string, string>> = {
  ada: 'en-us',
  bob: 'en-gb',
  eve: 'en-us+f3',
  ian: 'en-gb-scotland+m3',
  mia: 'en-us+f5',
};

/** From one word to two sentences. */
const UTTERANCES = [
  'Yes.',
  'No, not yet.',
  'Good morning everybody.',
  'I will send it tomorrow.',
  'What do you think about the second one?',
  'That sounds good to me, thank you very much.',
  'The new office has two meeting rooms and a small kitchen.',
  'We should ask the others before we decide anything about the budget.',
  'I was there last week, and I can tell you that the garden needs more water than we thought.',
  'Please write it down. Otherwise nobody will remember what we said when we meet again in October.',
] as const;

/** Makes a call. The same seed gives the same call. A sixth of the turns begins before the previous turn ends. */
export async function composeCall(turnCount: number, seed: number): Promise<ScriptedCall> {
  const sounds = await synthesise();
  const random = randomNumbers(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const placed: { identity: string; start: number; sound: Float32Array }[] = [];
  let end = SAMPLE_RATE;
  for (let index = 0; index < turnCount; index += 1) {
    const before = placed.at(-1);
    const identity = pick(Object.keys(VOICES).filter((name) => name !== before?.identity));
    const sound = pick(sounds.get(identity) ?? []);
    const shortest = Math.min(before?.sound.length ?? 0, sound.length);
    const overlap = random() < 1 / 6 && index > 0 ? shortest * (0.2 + random() * 0.3) : 0;
    const pause = overlap > 0 ? 0 : (0.05 + random() * random() * 1.2) * SAMPLE_RATE;
    const start = Math.round(end + pause - overlap);
    placed.push({ identity, start, sound });
    end = Math.max(end, start + sound.length);
  }
  const length = end + SAMPLE_RATE;
  const tracks = new Map(Object.keys(VOICES).map((identity) => [identity, new Float32Array(length)]));
  for (const { identity, start, sound } of placed) tracks.get(identity)?.set(sound, start);
  const mixed = new Float32Array(length);
  for (const track of tracks.values()) {
    for (let index = 0; index < length; index += 1) mixed[index] = (mixed[index] ?? 0) + (track[index] ?? 0);
  }
  const turns = placed.map(({ identity, start, sound }) => ({
    ...{ identity, from: toMs(start), to: toMs(start + sound.length) },
  }));
  return { turns, tracks, mixed };
}

async function synthesise(): Promise<ReadonlyMap<string, readonly Float32Array[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-scripted-'));
  const sounds = new Map<string, readonly Float32Array[]>();
  for (const [identity, voice] of Object.entries(VOICES)) {
    const spoken: Float32Array[] = [];
    for (const text of UTTERANCES) {
      const path = join(folder, 'utterance.wav');
      await speakToFile({ text, path, voice });
      spoken.push(readSpeech(await readFile(path)));
    }
    sounds.set(identity, spoken);
  }
  await rm(folder, { recursive: true });
  return sounds;
}

/** espeak-ng writes 16 bit samples at 22.05 kHz behind a header of 44 bytes, with silence at both ends. */
function readSpeech(file: Buffer): Float32Array {
  const [rate, header] = [file.readUInt32LE(24), 44];
  const count = (file.length - header) >> 1;
  const at = (index: number): number => (index < count ? file.readInt16LE(header + 2 * index) / 32_768 : 0);
  const samples = Float32Array.from({ length: Math.floor((count * SAMPLE_RATE) / rate) }, (_, index) => {
    const exact = (index * rate) / SAMPLE_RATE;
    const [whole, part] = [Math.floor(exact), exact % 1];
    return 0.5 * (at(whole) * (1 - part) + at(whole + 1) * part);
  });
  const isLoud = (sample: number): boolean => Math.abs(sample) > 0.01;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}

/** The algorithm is Mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function toMs(samples: number): number {
  return Math.round((samples / SAMPLE_RATE) * 1000);
}
