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

type Make = HostileFile['make'];

const fails = (expected: Expected, name: string, make: Make): HostileFile => ({ name, expected, make });
const any = (name: string, make: Make): HostileFile => fails('any', name, make);
const words = (name: string, make: Make): HostileFile => fails('words', name, make);
const quick = (file: HostileFile): HostileFile => ({ ...file, isQuick: true });
const silence = Buffer.alloc(RATE * 2);
const YEAR_MS = 365n * 24n * 3600n * 1000n;
const HUGE = 2n ** 62n;

const mp4Files: readonly HostileFile[] = [
  any('MP4 with 5,000 tracks', ({ sound }) => movie({ sound, tracks: 5_000 })),
  any('MP4 whose edit list plays it 1,500,000 times', ({ sound }) => movie({ sound, edits: 1_500_000 })),
  any('MP4 that lists a second of silence 600,000 times', () => movie({ sound: silence, chunks: 600_000 })),
  quick(fails('recording-not-media', 'MP4 with boxes 100,000 deep', () => nested('moov', 100_000))),
  fails('recording-not-media', 'MP4 with metadata 100,000 deep', () =>
    Buffer.concat([box('ftyp', Buffer.from('isom'), u32(0)), box('moov', nested('udta', 100_000))]),
  ),
  any('MP4 with a time scale of 0', ({ sound }) => movie({ sound, timescale: 0 })),
  any('MP4 whose samples take 2^32 ticks each', ({ sound }) =>
    movie({ sound, durations: u32(sound.length / 2, 0xffffffff) }),
  ),
  any('MP4 that claims 2^32 samples', ({ sound }) => movie({ sound, samples: 0xffffffff })),
  any('MP4 with a box of 2^64 bytes', ({ sound }) =>
    Buffer.concat([movie({ sound }), u32(1), Buffer.from('moov'), u32(0xffffffff, 0xffffffff)]),
  ),
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
  quick(
    words('Matroska that lasts NaN', ({ sound }) =>
      matroska({ sound, info: float(ID.duration, Number.NaN) }),
    ),
  ),
  words('Matroska that lasts for ever', ({ sound }) =>
    matroska({ sound, info: float(ID.duration, Number.POSITIVE_INFINITY) }),
  ),
  ...[Number.NaN, Number.POSITIVE_INFINITY, -RATE, 0, 1e300].map((rate) =>
    any(`Matroska with ${rate} samples a second`, ({ sound }) =>
      matroska({ sound, audio: float(ID.samplingFrequency, rate) }),
    ),
  ),
  ...[0n, 2n ** 63n, 2n ** 64n - 1n].map((scale) =>
    any(`Matroska with ticks of ${scale} ns`, ({ sound }) =>
      matroska({ sound, info: integer(ID.timestampScale, scale) }),
    ),
  ),
  any('Matroska with 2^32 channels of 2^32 bits', ({ sound }) =>
    matroska({
      sound,
      audio: Buffer.concat([integer(ID.channels, 2n ** 32n), integer(ID.bitDepth, 2n ** 32n)]),
    }),
  ),
  any('Matroska with a delay of 146 years', ({ sound }) =>
    matroska({ sound, track: Buffer.concat([integer(ID.codecDelay, HUGE), integer(ID.seekPreRoll, HUGE)]) }),
  ),
  any('Matroska with a gap of ten years', ({ sound }) =>
    matroska({ sound, computeTime: (index) => BigInt(index * 100) + (index < 20 ? 0n : 10n * YEAR_MS) }),
  ),
  any('Matroska with a gap of 20 hours', ({ sound }) =>
    matroska({ sound, computeTime: (index) => BigInt(index * 100) + (index < 20 ? 0n : 72_000_000n) }),
  ),
  any('Matroska whose time is 2^63', ({ sound }) =>
    matroska({ sound, computeTime: (index) => 2n ** 63n - BigInt(index) }),
  ),
  any('Matroska whose time goes backwards', ({ sound }) =>
    matroska({ sound, computeTime: (index) => BigInt(100_000 - index * 100) }),
  ),
  any('Matroska with 20,000 tracks', ({ sound }) =>
    matroska({
      sound,
      tracks: Buffer.concat(Array.from({ length: 20_000 }, (_, index) => pictureTrack(index + 2, 'V_VP8'))),
    }),
  ),
  any('Matroska with elements 10,000 deep', ({ sound }) => {
    let inner = integer('4dbb', 0);
    for (let depth = 0; depth < 10_000; depth += 1) inner = element('b6', inner.subarray(0, 65_536));
    return matroska({ sound, between: element('1043a770', element('45b9', inner)) });
  }),
  words('Matroska with an attached file of 64 MB', ({ sound }) =>
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
  ),
  words('Matroska with a VP8 picture of 16,000 by 16,000 pixels', ({ sound }) =>
    matroska({ sound, ...pictures('V_VP8', vp8) }),
  ),
  words('Matroska with a JPEG picture of 16,000 by 16,000 pixels', ({ sound }) =>
    matroska({ sound, ...pictures('V_MJPEG', jpeg) }),
  ),
  words('Matroska with 200,000 subtitles', ({ sound }) =>
    matroska({
      sound,
      tracks: element(
        ID.track,
        ...[integer(ID.trackNumber, 2), integer('73c5', 2), integer(ID.trackType, 17)],
        text(ID.codec, 'S_TEXT/UTF8'),
      ),
      packets: Array.from({ length: 200_000 }, () => makePacket(2, Buffer.from('{\\an8}<b><b><b>'))),
    }),
  ),
];

const otherFiles: readonly HostileFile[] = [
  fails('recording-empty', 'no bytes', () => Buffer.alloc(0)),
  fails('recording-not-media', 'one byte', () => Buffer.from('x')),
  fails('recording-not-media', '16 MB of zeros', () => Buffer.alloc(16 * 1024 * 1024)),
  quick(
    any('WAV with samples that are NaN, infinite and 1e38', () =>
      wav({
        format: 3,
        bits: 32,
        data: repeat(floats(Number.NaN, 1e38, Number.NEGATIVE_INFINITY, 0.5), 8_000),
      }),
    ),
  ),
  any('WAV with no samples a second', ({ sound }) => wav({ data: sound, rate: 0 })),
  any('WAV with 2^32 samples a second', ({ sound }) => wav({ data: sound, rate: 0xffffffff })),
  any('WAV with 65,535 channels', ({ sound }) => wav({ data: sound, channels: 65_535 })),
  any('WAV with no channel', ({ sound }) => wav({ data: sound, channels: 0 })),
  any('WAV with one sample a second', ({ sound }) => wav({ data: sound, rate: 1 })),
  words('WAV that claims 4 GB', ({ sound }) => wav({ data: sound, claims: 0xffffffff })),
  words('MP3 with an attached picture of 16,000 by 16,000 pixels', ({ mp3 }) =>
    Buffer.concat([id3WithPicture(pngHeader(16_000)), mp3]),
  ),
  any('MP3 with an attached picture that claims 256 MB', ({ mp3 }) =>
    Buffer.concat([id3WithPicture(pngHeader(16), 0x0fffffff), mp3]),
  ),
  any('FLV with metadata 100,000 deep', () => flvOfObjects(100_000)),
  any('Ogg with 20,000 streams', () => oggOfStreams(20_000)),
  any('MPEG-TS with 7,000 streams', () => transportOfStreams(7_000)),
];

function floats(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes;
}

/** The ids that these files change. */
const ID = {
  timestampScale: '2ad7b1',
  duration: '4489',
  track: 'ae',
  trackNumber: 'd7',
  trackType: '83',
  codec: '86',
  codecDelay: '56aa',
  seekPreRoll: '56bb',
  defaultDuration: '23e383',
  audio: 'e1',
  samplingFrequency: 'b5',
  channels: '9f',
  bitDepth: '6264',
  video: 'e0',
  pixelWidth: 'b0',
  pixelHeight: 'ba',
} as const;

const PACKET_MS = 100;
const PACKET_BYTES = (RATE / 1000) * PACKET_MS * 2;
/** Files whose tables contradict themselves. */
export const craftedFiles: readonly HostileFile[] = [...mp4Files, ...matroskaFiles, ...otherFiles];

/* Writes Matroska files (RFC 9559) with one track of raw sound and whatever else is given, however wrong its values are. */

/** An element: its id in hexadecimal, a size of eight bytes, and its content. */
function element(id: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length) | (1n << 56n));
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
}

function integer(id: string, value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, BigInt(value)));
  return element(id, bytes);
}

function float(id: string, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return element(id, bytes);
}

function text(id: string, value: string): Buffer {
  return element(id, Buffer.from(value));
}

type Matroska = {
  readonly sound: Buffer;
  /** Elements of Info beside the default ones. A later one replaces an earlier one with the same id. */
  readonly info?: Buffer;
  /** Elements of the sound's track, beside the default ones. */
  readonly track?: Buffer;
  /** Elements of Audio, beside the default ones. */
  readonly audio?: Buffer;
  /** Further tracks. */
  readonly tracks?: Buffer;
  /** Packets of further tracks, which come first. */
  readonly packets?: readonly Buffer[];
  /** Milliseconds at which a packet of the sound begins. Default: where the one before ends. */
  readonly computeTime?: (index: number) => bigint;
  /** Elements between the tracks and the packets. */
  readonly between?: Buffer;
};

function matroska(file: Matroska): Buffer {
  const { info, track, audio, tracks, between, packets = [] } = file;
  const none = Buffer.alloc(0);
  const header = element('1a45dfa3', text('4282', 'matroska'), integer('4287', 4), integer('4285', 2));
  const sound = element(
    ID.track,
    ...[integer(ID.trackNumber, 1), integer('73c5', 1), integer(ID.trackType, 2)],
    text(ID.codec, 'A_PCM/INT/LIT'),
    element(
      ID.audio,
      ...[float(ID.samplingFrequency, RATE), integer(ID.channels, 1), integer(ID.bitDepth, 16)],
      audio ?? none,
    ),
    track ?? none,
  );
  const content = [
    element('1549a966', integer(ID.timestampScale, 1_000_000), info ?? none),
    element('1654ae6b', sound, tracks ?? none),
    between ?? none,
    ...packets.map((packet) => element('1f43b675', integer('e7', 0), element('a3', packet))),
    ...makeClusters(file),
  ];
  return Buffer.concat([header, element('18538067', Buffer.concat(content))]);
}

function makeClusters({ sound, computeTime: timeOf }: Matroska): readonly Buffer[] {
  const count = Math.ceil(sound.length / PACKET_BYTES);
  return Array.from({ length: count }, (_, index) => {
    const time = timeOf === undefined ? BigInt(index * PACKET_MS) : timeOf(index);
    const bytes = sound.subarray(index * PACKET_BYTES, (index + 1) * PACKET_BYTES);
    return element('1f43b675', integer('e7', time), element('a3', Buffer.from('81000080', 'hex'), bytes));
  });
}

/** A track of pictures. Its packets are made by `packetOf`. */
function pictureTrack(number: number, codec: string): Buffer {
  return element(
    ID.track,
    ...[integer(ID.trackNumber, number), integer('73c5', number), integer(ID.trackType, 1)],
    text(ID.codec, codec),
    element(ID.video, integer(ID.pixelWidth, 16), integer(ID.pixelHeight, 16)),
  );
}

/** The block of a packet of a track with a number below 127. */
function makePacket(track: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80 | track, 0, 0, 0x80]), content]);
}
