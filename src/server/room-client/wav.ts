import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { ByteReader } from '../platform/byte-reader.ts';
import { badMedia, frameLength, isUsualRate, type Sound } from './media.ts';

/*
 * Reads WAV files with 16-bit samples as they arrive, so that a pipe that never ends is no different from a file. The header
 * is described in https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html.
 */

export type RawFormat = { readonly sampleRate: number; readonly channels: number };

const BYTES_PER_SAMPLE = 2;
const PCM = 1;
/** Format code of files with an extension, which has the actual code. */
const EXTENSIBLE = 0xfffe;
const EXTENSION_CODE_AT = 24;
/** Lengths that mean "unknown", from programs that write to a pipe: everything up to the end is audio. */
const UNKNOWN_LENGTHS: readonly number[] = [0, 0x7fffffff, 0xffffffff];

/** @throws RoomClientError for a file that is no WAV file of 16-bit samples */
export async function readWav(stream: AsyncIterable<Uint8Array>, name: string): Promise<Sound> {
  const reader = new ByteReader(stream);
  if (!isRiff(await reader.peek(12))) throw badMedia(`${name} is not a WAV file`, convert(name));
  return await readSound(reader, name);
}

/** Reads a WAV file or, without a header, samples in the given format. */
export async function readWavOrRaw(
  stream: AsyncIterable<Uint8Array>,
  { name, raw }: { readonly name: string; readonly raw: RawFormat },
): Promise<Sound> {
  const reader = new ByteReader(stream);
  if (isRiff(await reader.peek(12))) return await readSound(reader, name);
  return toSound(reader, raw, Number.POSITIVE_INFINITY);
}

function isRiff(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE';
}

async function readSound(reader: ByteReader, name: string): Promise<Sound> {
  await reader.skip(12);
  let format: RawFormat | undefined;
  for (;;) {
    const head = await reader.read(8);
    if (head.length < 8) throw badMedia(`${name} has no sound in it`, convert(name));
    const chunk = head.toString('latin1', 0, 4);
    const length = head.readUInt32LE(4);
    if (chunk === 'data') {
      if (format === undefined) throw badMedia(`${name} does not say its format`, convert(name));
      const isKnown = !UNKNOWN_LENGTHS.includes(length);
      return toSound(reader, format, isKnown ? length : Number.POSITIVE_INFINITY);
    }
    if (chunk === 'fmt ') format = readFormat(await reader.read(Math.min(length, 64)), name);
    // A chunk is padded to an even length.
    await reader.skip(chunk === 'fmt ' ? Math.max(0, length - 64) + (length % 2) : length + (length % 2));
  }
}

function readFormat(chunk: Buffer, name: string): RawFormat {
  if (chunk.length < 16) throw badMedia(`${name} does not say its format`, convert(name));
  const [code, channels, bits] = [0, 2, 14].map((at) => chunk.readUInt16LE(at));
  const isExtended = code === EXTENSIBLE && chunk.length >= EXTENSION_CODE_AT + 2;
  const encoding = isExtended ? chunk.readUInt16LE(EXTENSION_CODE_AT) : code;
  const sampleRate = chunk.readUInt32LE(4);
  if (encoding !== PCM || bits !== 16) throw badMedia(`${name} does not have 16-bit samples`, convert(name));
  if (channels !== 1 && channels !== 2) {
    throw badMedia(`${name} has ${channels} channels, and a room takes one or two`, convert(name));
  }
  if (!isUsualRate(sampleRate)) {
    throw badMedia(`${name} has ${sampleRate} samples a second, which rooms do not take`, convert(name));
  }
  return { sampleRate, channels };
}

function toSound(reader: ByteReader, { sampleRate, channels }: RawFormat, bytes: number): Sound {
  return { sampleRate, channels, frames: readSoundFrames(reader, { sampleRate, channels }, bytes) };
}

/** Fills the last frame up with silence. */
async function* readSoundFrames(
  reader: ByteReader,
  { sampleRate, channels }: RawFormat,
  bytes: number,
): AsyncGenerator<Int16Array> {
  const size = frameLength(sampleRate) * channels * BYTES_PER_SAMPLE;
  for (let left = bytes; left > 0; left -= size) {
    const piece = await reader.read(Math.min(size, left));
    if (piece.length < BYTES_PER_SAMPLE) return;
    const frame = Buffer.alloc(size);
    piece.copy(frame, 0, 0, piece.length - (piece.length % BYTES_PER_SAMPLE));
    yield new Int16Array(frame.buffer, frame.byteOffset, size / BYTES_PER_SAMPLE);
  }
}

function convert(name: string): { readonly text: string; readonly command: string } {
  const input = name === 'stdin' ? 'INPUT' : name;
  return {
    text: 'convert it',
    command: `ffmpeg -i ${input} -ac 1 -ar 48000 -c:a pcm_s16le converted.wav`,
  };
}

/**
 * Writes a WAV file of one channel while it grows. Until the end its header has an unknown length, so that the file of a
 * killed process can be played too.
 */
export type WavWriter = {
  write(samples: Int16Array): void;
  /** Resolves when everything is in the file. Rejects with the first write error. */
  close(): Promise<void>;
};

const HEADER_BYTES = 44;
const UNKNOWN_LENGTH = 0xffffffff;

/** Writes to a stream, such as a pipe that another program reads. */
export function createWavStream(stream: Writable, sampleRate: number): WavWriter {
  stream.write(header(sampleRate, UNKNOWN_LENGTH));
  return {
    write: (samples) => void stream.write(toBytes(samples)),
    close: () => new Promise((resolve) => stream.write('', () => resolve())),
  };
}

/**
 * Creates a new file. Rejects with EEXIST when it exists. `onError` is called with the first error, such as a full disk.
 */
export async function createWavFile(
  path: string,
  { sampleRate, onError }: { readonly sampleRate: number; readonly onError: (error: Error) => void },
): Promise<WavWriter> {
  const file = await open(path, 'wx');
  await file.write(header(sampleRate, UNKNOWN_LENGTH));
  let length = 0;
  let failure: Error | undefined;
  let writing = Promise.resolve();
  const enqueue = (write: () => Promise<void>): void => {
    writing = writing.then(async () => {
      if (failure !== undefined) return;
      try {
        await write();
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
        onError(failure);
      }
    });
  };
  return {
    write: (samples) =>
      enqueue(async () => {
        const bytes = toBytes(samples);
        await writeAll(file, bytes, HEADER_BYTES + length);
        length += bytes.length;
      }),
    close: async () => {
      enqueue(() => writeAll(file, header(sampleRate, Math.min(length, UNKNOWN_LENGTH)), 0));
      await writing;
      await file.close();
      if (failure !== undefined) throw failure;
    },
  };
}

/** Repeats partial writes. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

function toBytes(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

function header(sampleRate: number, dataBytes: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(Math.min(dataBytes + HEADER_BYTES - 8, UNKNOWN_LENGTH), 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(sampleRate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(dataBytes, 40);
  return bytes;
}
