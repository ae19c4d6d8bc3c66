/*
 * Reads the duration of an MP4 file from its header (ISO 14496-12): the box `mvhd` in `moov`, which comes before or after
 * the media. Boxes are skipped by their sizes, so that only their heads are read.
 */

/** Returns `length` bytes from `start`. */
export type ReadBytes = (start: number, length: number) => Promise<Buffer>;

/** Bytes of one read: the boxes before the media, and `moov` up to the end of `mvhd`. */
const READ_BYTES = 512;
/** Maximum boxes. A recorder writes five; the limit is for files of other origin. */
const MAX_BOXES = 16;
/** Bytes of the largest head: a size, a type, and a size of 64 bits. */
const MAX_HEAD_BYTES = 16;
/** Bytes of `mvhd` in version 1 up to the end of its duration. */
const MOVIE_HEADER_BYTES = 32;

type Box = {
  readonly type: string;
  readonly start: number;
  readonly headBytes: number;
  readonly sizeBytes: number;
};

/**
 * Returns milliseconds; undefined for a file that is not an MP4 file, is not complete, or has no duration. Reads a few parts
 * of 512 bytes.
 */
export async function readMp4Duration(read: ReadBytes, fileBytes: number): Promise<number | undefined> {
  const reader = new PartReader(read, fileBytes);
  const first = await findBox(reader, { start: 0, end: fileBytes }, { type: 'ftyp', limit: 1 });
  if (first === undefined) return undefined;
  const movie = await findBox(reader, { start: 0, end: fileBytes }, { type: 'moov', limit: MAX_BOXES });
  if (movie === undefined) return undefined;
  const inside = { start: movie.start + movie.headBytes, end: movie.start + movie.sizeBytes };
  const header = await findBox(reader, inside, { type: 'mvhd', limit: MAX_BOXES });
  if (header === undefined) return undefined;
  return readMovieDuration(await reader.read(header.start + header.headBytes, MOVIE_HEADER_BYTES));
}

type Range = { readonly start: number; readonly end: number };
type Wanted = { readonly type: string; readonly limit: number };

/** Returns the first box of `type` among the first `limit` boxes of the range. */
async function findBox(
  reader: PartReader,
  { start, end }: Range,
  { type, limit }: Wanted,
): Promise<Box | undefined> {
  for (let at = start, seen = 0; seen < limit; seen += 1) {
    const box = readBoxHead(await reader.read(at, MAX_HEAD_BYTES), { start: at, end });
    if (box === undefined || box.type === type) return box;
    at += box.sizeBytes;
  }
  return undefined;
}

/** Returns undefined for a head that is cut off or has an impossible size. */
function readBoxHead(bytes: Buffer, { start, end }: Range): Box | undefined {
  if (bytes.length < 8) return undefined;
  const shortSize = bytes.readUInt32BE(0);
  const type = bytes.toString('latin1', 4, 8);
  const isLong = shortSize === 1;
  if (isLong && bytes.length < MAX_HEAD_BYTES) return undefined;
  const headBytes = isLong ? 16 : 8;
  const restBytes = end - start;
  // A size of 0 means up to the end of the file.
  const sizeBytes = isLong ? Number(bytes.readBigUInt64BE(8)) : shortSize === 0 ? restBytes : shortSize;
  if (sizeBytes < headBytes || sizeBytes > restBytes) return undefined;
  return { type, start, headBytes, sizeBytes };
}

/**
 * All ones mean that the duration is unknown. 0 means that the media is in fragments, which have durations of their own.
 */
function readMovieDuration(bytes: Buffer): number | undefined {
  if (bytes.length < MOVIE_HEADER_BYTES) return undefined;
  const isLong = bytes.readUInt8(0) === 1;
  const timescale = bytes.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? bytes.readBigUInt64BE(24) : BigInt(bytes.readUInt32BE(16));
  const unknown = isLong ? 0xffff_ffff_ffff_ffffn : 0xffff_ffffn;
  if (timescale === 0 || duration === 0n || duration === unknown) return undefined;
  return Math.round((Number(duration) * 1000) / timescale);
}

/** Keeps the part that was read last, because one part has all boxes before the media. */
class PartReader {
  readonly #read: ReadBytes;
  readonly #fileBytes: number;
  #part: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };

  constructor(read: ReadBytes, fileBytes: number) {
    this.#read = read;
    this.#fileBytes = fileBytes;
  }

  /** Returns fewer bytes at the end of the file. */
  async read(start: number, length: number): Promise<Buffer> {
    const end = Math.min(start + length, this.#fileBytes);
    if (end <= start) return Buffer.alloc(0);
    const { start: from, bytes } = this.#part;
    if (start < from || end > from + bytes.length) {
      const wanted = Math.min(READ_BYTES, this.#fileBytes - start);
      this.#part = { start, bytes: await this.#read(start, wanted) };
    }
    return this.#part.bytes.subarray(start - this.#part.start, end - this.#part.start);
  }
}
