import { copyFile, mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFfmpeg } from '../../../support/parts/ffmpeg.ts';
import { speakToFile } from '../../../support/parts/speech.ts';

const SENTENCE = 'The meeting will start at nine tomorrow morning in the large conference room.';

/** MP4 files as a recorder makes them: H.264 and AAC. */
export type MediaFiles = {
  readonly folder: string;
  /** The sentence, spoken by a synthesiser. The index is at the end of the file. */
  readonly speech: string;
  /** The same with its index at the beginning. */
  readonly fastStart: string;
  make(name: string, args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
};

const VIDEO = ['-f', 'lavfi', '-i', 'color=c=blue:s=160x90:r=5'];
const CODECS = ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-shortest'];

export async function makeMediaFiles(): Promise<MediaFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-media-'));
  const wav = join(folder, 'speech.wav');
  await speakToFile({ text: SENTENCE, path: wav });
  const make = async (name: string, args: readonly string[]): Promise<string> => {
    const path = join(folder, name);
    await runFfmpeg([...args, path]);
    return path;
  };
  const speech = await make('speech.mp4', [...VIDEO, '-i', wav, ...CODECS]);
  const fastStart = await make('fast-start.mp4', [
    ...['-i', speech, '-c', 'copy', '-movflags', '+faststart'],
  ]);
  return { folder, speech, fastStart, make, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** ffmpeg arguments for video and silence. */
export function silence(seconds: number): readonly string[] {
  const audio = ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo'];
  return [...VIDEO, ...audio, '-t', String(seconds), ...CODECS];
}

export function videoOnly(seconds: number): readonly string[] {
  return [...VIDEO, '-t', String(seconds), '-c:v', 'libx264', '-preset', 'ultrafast'];
}

/** Copies the beginning of a file, as it remains after a crash. */
export async function cutOff(path: string, to: string, bytes: number): Promise<string> {
  await copyFile(path, to);
  await truncate(to, bytes);
  return to;
}

/** Replaces the tenth of a file after its middle by noise. */
export async function damage(path: string, to: string): Promise<string> {
  const bytes = await readFile(path);
  const [from, length] = [bytes.length >> 1, Math.floor(bytes.length / 10)];
  for (let at = from; at < from + length; at++) bytes[at] = ((bytes[at] ?? 0) * 7 + 13) & 255;
  await writeFile(to, bytes);
  return to;
}

export async function emptyFile(path: string): Promise<string> {
  await (await open(path, 'w')).close();
  return path;
}
