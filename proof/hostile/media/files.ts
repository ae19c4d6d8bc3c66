import { element, float, ID, integer, makePacket, matroska, pictureTrack, text } from './matroska.ts';
import { box, movie, nested, RATE, repeat, u16, u32 } from './mp4.ts';
import { flvOfObjects, id3WithPicture, oggOfStreams, pngHeader, transportOfStreams, wav } from './streams.ts';

/** How the transcription of a file may end. */
export type Expected =
  /** It completes with the words of the sentence. */
  | 'words'
  /** It fails with the code. */
  | 'recording-empty'
  | 'recording-not-media'
  | 'recording-without-audio'
  /** It completes with any words, or fails with one of the codes that describe a file. */
  | 'any';

export type HostileFile = {
  readonly name: string;
  readonly expected: Expected;
  readonly make: (source: Source) => Buffer;
  /** Whether the short run has it too. */
  readonly isQuick?: true;
};

/** Speech that the files contain. */
export type Source = {
  /** A spoken sentence: 16 kHz, mono, 16 bit. */
  readonly sound: Buffer;
  /** The same sentence as an MP3 file. */
  readonly mp3: Buffer;
};

const silence = Buffer.alloc(RATE * 2);
const YEAR_MS = 365n * 24n * 3600n * 1000n;
const HUGE = 2n ** 62n;

const mp4Files: readonly HostileFile[] = [
  { name: 'MP4 with 5,000 tracks', expected: 'any', make: ({ sound }) => movie({ sound, tracks: 5_000 }) },
  {
    name: 'MP4 whose edit list plays it 1,500,000 times',
    expected: 'any',
    make: ({ sound }) => movie({ sound, edits: 1_500_000 }),
  },
  {
    name: 'MP4 that lists a second of silence 600,000 times',
    expected: 'any',
    make: () => movie({ sound: silence, chunks: 600_000 }),
  },
  {
    name: 'MP4 with boxes 100,000 deep',
    expected: 'recording-not-media',
    make: () => nested('moov', 100_000),
    isQuick: true,
  },
  {
    name: 'MP4 with metadata 100,000 deep',
    expected: 'recording-not-media',
    make: () =>
      Buffer.concat([box('ftyp', Buffer.from('isom'), u32(0)), box('moov', nested('udta', 100_000))]),
  },
  {
    name: 'MP4 with a time scale of 0',
    expected: 'any',
    make: ({ sound }) => movie({ sound, timescale: 0 }),
  },
  {
    name: 'MP4 whose samples take 2^32 ticks each',
    expected: 'any',
    make: ({ sound }) => movie({ sound, durations: u32(sound.length / 2, 0xffffffff) }),
  },
  {
    name: 'MP4 that claims 2^32 samples',
    expected: 'any',
    make: ({ sound }) => movie({ sound, samples: 0xffffffff }),
  },
  {
    name: 'MP4 with a box of 2^64 bytes',
    expected: 'any',
    make: ({ sound }) =>
      Buffer.concat([movie({ sound }), u32(1), Buffer.from('moov'), u32(0xffffffff, 0xffffffff)]),
  },
];

const pictures = (codec: string, packet: Buffer) => ({
  tracks: pictureTrack(2, codec),
  packets: [makePacket(2, packet)],
});

/** The beginning of a key frame of VP8 with 16,000 pixels each way, hardly less than ffmpeg accepts. */
const vp8 = Buffer.concat([Buffer.from('10ff009d012a', 'hex'), u16(0x803e, 0x803e), Buffer.alloc(4_096)]);
/** A JPEG file without its picture, with 16,000 pixels each way. */
const jpeg = Buffer.concat([
  Buffer.from('ffd8ffc00011083e803e8003011100021100031100', 'hex'),
  Buffer.from('ffda000c03010002000300003f00', 'hex'),
  Buffer.alloc(4_096, 'x'),
]);

const matroskaFiles: readonly HostileFile[] = [
  {
    name: 'Matroska that lasts NaN',
    expected: 'words',
    make: ({ sound }) => matroska({ sound, info: float(ID.duration, Number.NaN) }),
    isQuick: true,
  },
  {
    name: 'Matroska that lasts for ever',
    expected: 'words',
    make: ({ sound }) => matroska({ sound, info: float(ID.duration, Number.POSITIVE_INFINITY) }),
  },
  ...[Number.NaN, Number.POSITIVE_INFINITY, -RATE, 0, 1e300].map(
    (rate): HostileFile => ({
      name: `Matroska with ${rate} samples a second`,
      expected: 'any',
      make: ({ sound }) => matroska({ sound, audio: float(ID.samplingFrequency, rate) }),
    }),
  ),
  ...[0n, 2n ** 63n, 2n ** 64n - 1n].map(
    (scale): HostileFile => ({
      name: `Matroska with ticks of ${scale} ns`,
      expected: 'any',
      make: ({ sound }) => matroska({ sound, info: integer(ID.timestampScale, scale) }),
    }),
  ),
  {
    name: 'Matroska with 2^32 channels of 2^32 bits',
    expected: 'any',
    make: ({ sound }) =>
      matroska({
        sound,
        audio: Buffer.concat([integer(ID.channels, 2n ** 32n), integer(ID.bitDepth, 2n ** 32n)]),
      }),
  },
  {
    name: 'Matroska with a delay of 146 years',
    expected: 'any',
    make: ({ sound }) =>
      matroska({
        sound,
        track: Buffer.concat([integer(ID.codecDelay, HUGE), integer(ID.seekPreRoll, HUGE)]),
      }),
  },
  {
    name: 'Matroska with a gap of ten years',
    expected: 'any',
    make: ({ sound }) =>
      matroska({ sound, computeTime: (index) => BigInt(index * 100) + (index < 20 ? 0n : 10n * YEAR_MS) }),
  },
  {
    name: 'Matroska with a gap of 20 hours',
    expected: 'any',
    make: ({ sound }) =>
      matroska({ sound, computeTime: (index) => BigInt(index * 100) + (index < 20 ? 0n : 72_000_000n) }),
  },
  {
    name: 'Matroska whose time is 2^63',
    expected: 'any',
    make: ({ sound }) => matroska({ sound, computeTime: (index) => 2n ** 63n - BigInt(index) }),
  },
  {
    name: 'Matroska whose time goes backwards',
    expected: 'any',
    make: ({ sound }) => matroska({ sound, computeTime: (index) => BigInt(100_000 - index * 100) }),
  },
  {
    name: 'Matroska with 20,000 tracks',
    expected: 'any',
    make: ({ sound }) =>
      matroska({
        sound,
        tracks: Buffer.concat(Array.from({ length: 20_000 }, (_, index) => pictureTrack(index + 2, 'V_VP8'))),
      }),
  },
  {
    name: 'Matroska with elements 10,000 deep',
    expected: 'any',
    make: ({ sound }) => {
      let inner = integer('4dbb', 0);
      for (let depth = 0; depth < 10_000; depth += 1) inner = element('b6', inner.subarray(0, 65_536));
      return matroska({ sound, between: element('1043a770', element('45b9', inner)) });
    },
  },
  {
    name: 'Matroska with an attached file of 64 MB',
    expected: 'words',
    make: ({ sound }) =>
      matroska({
        sound,
        between: element(
          '1941a469',
          element(
            '61a7',
            ...[text('466e', '../../x'), text('4660', 'image/png'), integer('46ae', 1)],
            element('465c', Buffer.alloc(64 * 1024 * 1024)),
          ),
        ),
      }),
  },
  {
    name: 'Matroska with a VP8 picture of 16,000 by 16,000 pixels',
    expected: 'words',
    make: ({ sound }) => matroska({ sound, ...pictures('V_VP8', vp8) }),
  },
  {
    name: 'Matroska with a JPEG picture of 16,000 by 16,000 pixels',
    expected: 'words',
    make: ({ sound }) => matroska({ sound, ...pictures('V_MJPEG', jpeg) }),
  },
  {
    name: 'Matroska with 200,000 subtitles',
    expected: 'words',
    make: ({ sound }) =>
      matroska({
        sound,
        tracks: element(
          ID.track,
          ...[integer(ID.trackNumber, 2), integer('73c5', 2), integer(ID.trackType, 17)],
          text(ID.codec, 'S_TEXT/UTF8'),
        ),
        packets: Array.from({ length: 200_000 }, () => makePacket(2, Buffer.from('{\\an8}<b><b><b>'))),
      }),
  },
];

const otherFiles: readonly HostileFile[] = [
  { name: 'no bytes', expected: 'recording-empty', make: () => Buffer.alloc(0) },
  { name: 'one byte', expected: 'recording-not-media', make: () => Buffer.from('x') },
  { name: '16 MB of zeros', expected: 'recording-not-media', make: () => Buffer.alloc(16 * 1024 * 1024) },
  {
    name: 'WAV with samples that are NaN, infinite and 1e38',
    expected: 'any',
    make: () =>
      wav({
        format: 3,
        bits: 32,
        data: repeat(floats(Number.NaN, 1e38, Number.NEGATIVE_INFINITY, 0.5), 8_000),
      }),
    isQuick: true,
  },
  {
    name: 'WAV with no samples a second',
    expected: 'any',
    make: ({ sound }) => wav({ data: sound, rate: 0 }),
  },
  {
    name: 'WAV with 2^32 samples a second',
    expected: 'any',
    make: ({ sound }) => wav({ data: sound, rate: 0xffffffff }),
  },
  {
    name: 'WAV with 65,535 channels',
    expected: 'any',
    make: ({ sound }) => wav({ data: sound, channels: 65_535 }),
  },
  { name: 'WAV with no channel', expected: 'any', make: ({ sound }) => wav({ data: sound, channels: 0 }) },
  {
    name: 'WAV with one sample a second',
    expected: 'any',
    make: ({ sound }) => wav({ data: sound, rate: 1 }),
  },
  {
    name: 'WAV that claims 4 GB',
    expected: 'words',
    make: ({ sound }) => wav({ data: sound, claims: 0xffffffff }),
  },
  {
    name: 'MP3 with an attached picture of 16,000 by 16,000 pixels',
    expected: 'words',
    make: ({ mp3 }) => Buffer.concat([id3WithPicture(pngHeader(16_000)), mp3]),
  },
  {
    name: 'MP3 with an attached picture that claims 256 MB',
    expected: 'any',
    make: ({ mp3 }) => Buffer.concat([id3WithPicture(pngHeader(16), 0x0fffffff), mp3]),
  },
  { name: 'FLV with metadata 100,000 deep', expected: 'any', make: () => flvOfObjects(100_000) },
  { name: 'Ogg with 20,000 streams', expected: 'any', make: () => oggOfStreams(20_000) },
  { name: 'MPEG-TS with 7,000 streams', expected: 'any', make: () => transportOfStreams(7_000) },
];

function floats(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes;
}

/** Files whose tables contradict themselves. */
export const craftedFiles: readonly HostileFile[] = [...mp4Files, ...matroskaFiles, ...otherFiles];
