/* Writes MP4 files (ISO/IEC 14496-12) with one track of raw sound, whose tables may contradict the file. */

/** 16 bit, mono, little-endian. */
export const RATE = 16_000;
const BYTES_PER_SAMPLE = 2;

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}

export function repeat(bytes: Buffer, times: number): Buffer {
  return Buffer.alloc(bytes.length * times, bytes);
}

export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const size = content.reduce((sum, { length }) => sum + length, 8);
  return Buffer.concat([u32(size), Buffer.from(type, 'latin1'), ...content]);
}

/** A box with a version and flags, both 0. */
function fullBox(type: string, ...content: readonly Buffer[]): Buffer {
  return box(type, u32(0), ...content);
}

export type Movie = {
  readonly sound: Buffer;
  /** Ticks per second of the track. Default: the sample rate. */
  readonly timescale?: number;
  /** Pairs of a number of samples and the ticks that each takes. Default: one tick each. */
  readonly durations?: Buffer;
  /** How many times the whole sound is listed as a chunk. Default: once. */
  readonly chunks?: number;
  /** How many times the edit list plays the whole sound; default: no edit list. */
  readonly edits?: number;
  /** Number of equal tracks. Default: one. */
  readonly tracks?: number;
  /** Number of samples that the table claims. Default: as many as the sound has. */
  readonly samples?: number;
  /** The file that has the sound. Default: this file. */
  readonly elsewhere?: Buffer;
};

export function movie(movie: Movie): Buffer {
  const type = box('ftyp', Buffer.from('qt  '), u32(0), Buffer.from('qt  '));
  const data = box('mdat', movie.sound);
  const track = makeTrack(movie, type.length + 8);
  const tracks = repeat(track, movie.tracks ?? 1);
  const header = fullBox('mvhd', u32(0, 0, RATE, countAll(movie)), Buffer.alloc(76), u32(2));
  return Buffer.concat([type, data, box('moov', header, tracks)]);
}

function countAll({ sound, chunks = 1, samples }: Movie): number {
  return samples ?? (sound.length / BYTES_PER_SAMPLE) * chunks;
}

function makeTrack(movie: Movie, offset: number): Buffer {
  const { timescale = RATE, edits = 0, elsewhere } = movie;
  const count = countAll(movie);
  const header = box('tkhd', u32(7), u32(0, 0, 1, 0, count), Buffer.alloc(60));
  const media = box(
    'mdia',
    fullBox('mdhd', u32(0, 0, timescale, count), u16(0, 0)),
    fullBox('hdlr', Buffer.from('mhlrsoun'), Buffer.alloc(12), Buffer.from('\0')),
    box(
      'minf',
      fullBox('smhd', u32(0)),
      box('dinf', fullBox('dref', u32(1), elsewhere ?? box('url ', u32(1)))),
      makeSamples(movie, offset),
    ),
  );
  if (edits === 0) return box('trak', header, media);
  const list = repeat(u32(count, 0, 0x10000), edits);
  return box('trak', header, box('edts', fullBox('elst', u32(edits), list)), media);
}

function makeSamples(movie: Movie, offset: number): Buffer {
  const { sound, chunks = 1, durations } = movie;
  const count = countAll(movie);
  const entry = box(
    'sowt',
    Buffer.alloc(6),
    u16(1, 0, 0, 0, 0, 1, 8 * BYTES_PER_SAMPLE, 0, 0),
    u32(RATE * 0x10000),
  );
  const times = durations ?? u32(count, 1);
  return box(
    'stbl',
    fullBox('stsd', u32(1), entry),
    fullBox('stts', u32(times.length / 8), times),
    fullBox('stsc', u32(1, 1, sound.length / BYTES_PER_SAMPLE, 1)),
    fullBox('stsz', u32(BYTES_PER_SAMPLE, count)),
    fullBox('stco', u32(chunks), repeat(u32(offset), chunks)),
  );
}

/** Boxes inside each other. */
export function nested(type: string, depth: number): Buffer {
  const heads = Array.from({ length: depth }, (_, index) =>
    Buffer.concat([u32((depth - index) * 8), Buffer.from(type)]),
  );
  return Buffer.concat([box('ftyp', Buffer.from('isom'), u32(0), Buffer.from('isom')), ...heads]);
}
