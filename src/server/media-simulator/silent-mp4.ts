/*
 * Writes an MP4 (ISO/IEC 14496-12) with black pictures and silence that players and ffmpeg accept: one H.264 picture of 64 x
 * 36 per second, and AAC-LC at 48 kHz mono. The encoded pictures, the encoded silence and both decoder configurations were
 * made once with ffmpeg (libx264, aac); this code writes the boxes.
 */

const TIMESCALE = 1000;
const WIDTH = 64;
const HEIGHT = 36;

/** Two key pictures with different idr_pic_id, as H.264 requires of neighbouring ones (ITU-T H.264, 7.4.3). */
const PICTURES = [
  Buffer.from('000000116588820fc98a00056fbefaebaebaebaebc', 'hex'),
  Buffer.from('000000116588843f26280015befbebaebaebaebaf0', 'hex'),
] as const;
const PICTURE_BYTES = PICTURES[0].length;
const PICTURE_MS = 1000;

const SILENCE = Buffer.from('01182007', 'hex');
const SAMPLE_RATE = 48_000;
const SAMPLES_PER_FRAME = 1024;

const AVC_CONFIGURATION = Buffer.from(
  '0142c00affe100176742c00adc47f9f011000003000100000300020f12278001000568ce0194b2',
  'hex',
);
const AAC_DESCRIPTOR = Buffer.from(
  '03808080250002000480808017401500000000007d00000005df0580808005118856e500068080800102',
  'hex',
);

/** Returns a black, silent recording of this length (at least one millisecond). */
export function silentMp4(durationMs: number): Buffer {
  const wholeMs = Math.max(1, Math.round(durationMs));
  const pictures = Math.ceil(wholeMs / PICTURE_MS);
  const frames = Math.ceil((wholeMs * SAMPLE_RATE) / (1000 * SAMPLES_PER_FRAME));
  const video = Buffer.concat(
    Array.from({ length: pictures }, (_, index) => PICTURES[index % 2] ?? PICTURES[0]),
  );
  const audio = Buffer.alloc(frames * SILENCE.length, SILENCE);
  const head = Buffer.concat([fileType(), movie({ wholeMs, pictures, frames, mediaAt: 0 })]);
  // The position of the media depends on the size of the boxes, but their size does not depend on the position.
  const mediaAt = head.length + BOX_HEADER_BYTES;
  return Buffer.concat([
    fileType(),
    movie({ wholeMs, pictures, frames, mediaAt }),
    box('mdat', video, audio),
  ]);
}

const BOX_HEADER_BYTES = 8;

type Plan = {
  readonly wholeMs: number;
  readonly pictures: number;
  readonly frames: number;
  /** Offset of the first picture in the file; the sound follows the last one. */
  readonly mediaAt: number;
};

function fileType(): Buffer {
  return box('ftyp', ascii('isom'), u32(0x200), ascii('isomiso2avc1mp41'));
}

function movie(plan: Plan): Buffer {
  return box('moov', movieHeader(plan.wholeMs), videoTrack(plan), audioTrack(plan));
}

function movieHeader(durationMs: number): Buffer {
  return fullBox(
    'mvhd',
    0,
    u32(0, 0, TIMESCALE, durationMs, 0x10000),
    u16(0x100),
    Buffer.alloc(10),
    MATRIX,
    Buffer.alloc(24),
    u32(3),
  );
}

function videoTrack({ wholeMs, pictures, mediaAt }: Plan): Buffer {
  const lastMs = wholeMs - (pictures - 1) * PICTURE_MS;
  const times =
    pictures === 1
      ? [[1, lastMs]]
      : [
          [pictures - 1, PICTURE_MS],
          [1, lastMs],
        ];
  const entry = box(
    'avc1',
    sampleEntryHead(),
    Buffer.alloc(16),
    u16(WIDTH, HEIGHT),
    u32(0x480000, 0x480000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    box('avcC', AVC_CONFIGURATION),
  );
  return track({
    id: 1,
    durationMs: wholeMs,
    volume: 0,
    size: [WIDTH, HEIGHT],
    timescale: TIMESCALE,
    duration: wholeMs,
    handler: 'vide',
    mediaHeader: fullBox('vmhd', 1, Buffer.alloc(8)),
    entry,
    times,
    sampleBytes: PICTURE_BYTES,
    samples: pictures,
    offset: mediaAt,
  });
}

function audioTrack({ wholeMs, pictures, frames, mediaAt }: Plan): Buffer {
  const entry = box(
    'mp4a',
    sampleEntryHead(),
    Buffer.alloc(8),
    u16(1, 16, 0, 0),
    u32(SAMPLE_RATE * 0x10000),
    fullBox('esds', 0, AAC_DESCRIPTOR),
  );
  return track({
    id: 2,
    durationMs: wholeMs,
    volume: 0x100,
    size: [0, 0],
    timescale: SAMPLE_RATE,
    duration: frames * SAMPLES_PER_FRAME,
    handler: 'soun',
    mediaHeader: fullBox('smhd', 0, Buffer.alloc(4)),
    entry,
    times: [[frames, SAMPLES_PER_FRAME]],
    sampleBytes: SILENCE.length,
    samples: frames,
    offset: mediaAt + pictures * PICTURE_BYTES,
  });
}

type Track = {
  readonly id: number;
  readonly durationMs: number;
  readonly volume: number;
  readonly size: readonly [number, number];
  readonly timescale: number;
  readonly duration: number;
  readonly handler: 'vide' | 'soun';
  readonly mediaHeader: Buffer;
  readonly entry: Buffer;
  /** Runs of samples and the duration of each of them. */
  readonly times: readonly (readonly number[])[];
  readonly sampleBytes: number;
  readonly samples: number;
  readonly offset: number;
};

/** Writes a track whose samples all have the same size and lie in one chunk. */
function track(plan: Track): Buffer {
  const [width, height] = plan.size;
  const header = fullBox(
    'tkhd',
    3,
    u32(0, 0, plan.id, 0, plan.durationMs, 0, 0),
    u16(0, 0, plan.volume, 0),
    MATRIX,
    u32(width * 0x10000, height * 0x10000),
  );
  const samples = box(
    'stbl',
    fullBox('stsd', 0, u32(1), plan.entry),
    fullBox('stts', 0, u32(plan.times.length, ...plan.times.flat())),
    fullBox('stsc', 0, u32(1, 1, plan.samples, 1)),
    fullBox('stsz', 0, u32(plan.sampleBytes, plan.samples)),
    fullBox('stco', 0, u32(1, plan.offset)),
  );
  const selfContained = box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1)));
  const media = box(
    'mdia',
    fullBox('mdhd', 0, u32(0, 0, plan.timescale, plan.duration), u16(UNDETERMINED_LANGUAGE, 0)),
    fullBox('hdlr', 0, u32(0), ascii(plan.handler), Buffer.alloc(13)),
    box('minf', plan.mediaHeader, selfContained, samples),
  );
  return box('trak', header, media);
}

/** "und" with five bits per letter. */
const UNDETERMINED_LANGUAGE = 0x55c4;

const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

function sampleEntryHead(): Buffer {
  return Buffer.concat([Buffer.alloc(6), u16(1)]);
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + BOX_HEADER_BYTES), ascii(type), body]);
}

function fullBox(type: string, flags: number, ...parts: readonly Buffer[]): Buffer {
  return box(type, u32(flags), ...parts);
}

function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value, index * 4);
  });
  return bytes;
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    bytes.writeUInt16BE(value, index * 2);
  });
  return bytes;
}
