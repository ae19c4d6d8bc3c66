/* Writes Matroska files (RFC 9559) with one track of raw sound and whatever else is given, however wrong its values are. */
import { RATE } from './mp4.ts';

/** An element: its id in hexadecimal, a size of eight bytes, and its content. */
export function element(id: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length) | (1n << 56n));
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
}

export function integer(id: string, value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, BigInt(value)));
  return element(id, bytes);
}

export function float(id: string, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return element(id, bytes);
}

export function text(id: string, value: string): Buffer {
  return element(id, Buffer.from(value));
}

/** The ids that these files change. */
export const ID = {
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

export type Matroska = {
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

const PACKET_MS = 100;
const PACKET_BYTES = (RATE / 1000) * PACKET_MS * 2;

export function matroska(file: Matroska): Buffer {
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
export function pictureTrack(number: number, codec: string): Buffer {
  return element(
    ID.track,
    ...[integer(ID.trackNumber, number), integer('73c5', number), integer(ID.trackType, 1)],
    text(ID.codec, codec),
    element(ID.video, integer(ID.pixelWidth, 16), integer(ID.pixelHeight, 16)),
  );
}

/** The block of a packet of a track with a number below 127. */
export function makePacket(track: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80 | track, 0, 0, 0x80]), content]);
}
