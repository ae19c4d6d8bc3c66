import { ByteReader } from './byte-reader.ts';
import { frameLength, isUsualRate, type Sound } from './media.ts';
import { badMedia } from './room-client-error.ts';

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
