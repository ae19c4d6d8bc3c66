import { crc32 } from 'node:zlib';
import { RATE, repeat, u16, u32 } from './mp4.ts';

/* Writes files of other formats: WAV, MP3 with ID3, PNG, FLV, Ogg and MPEG-TS. */

export type Wav = {
  readonly data: Buffer;
  readonly rate?: number;
  readonly channels?: number;
  readonly bits?: number;
  /** 1 for integers, 3 for floats. */
  readonly format?: number;
  /** Number of bytes that the header claims. */
  readonly claims?: number;
};

export function wav({ data, rate = RATE, channels = 1, bits = 16, format = 1, claims }: Wav): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(claims ?? data.length + 36, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(format, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE((rate * channels * (bits / 8)) >>> 0, 28);
  head.writeUInt16LE((channels * (bits / 8)) & 0xffff, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36);
  head.writeUInt32LE(claims ?? data.length, 40);
  return Buffer.concat([head, data]);
}

/** The beginning of a PNG picture of this width and height, in 16-bit colours. */
export function pngHeader(pixels: number): Buffer {
  const content = Buffer.concat([Buffer.from('IHDR'), u32(pixels, pixels), Buffer.from('1006000000', 'hex')]);
  const data = Buffer.concat([Buffer.from('IDAT'), Buffer.from('789c', 'hex'), Buffer.alloc(1_000)]);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    u32(13),
    content,
    u32(crc32(content)),
    u32(data.length - 4),
    data,
    u32(crc32(data)),
  ]);
}

/** A tag of ID3v2.3 with an attached picture. */
export function id3WithPicture(picture: Buffer, claims?: number): Buffer {
  const content = Buffer.concat([Buffer.from('\0image/png\0\u0003\0', 'latin1'), picture]);
  const size = claims ?? content.length;
  const frame = Buffer.concat([Buffer.from('APIC'), u32(size), u16(0), content]);
  const total = claims ?? frame.length;
  const sizeBytes = [21, 14, 7, 0].map((shift) => (total >> shift) & 0x7f);
  return Buffer.concat([Buffer.from('ID3\u0003\0\0', 'latin1'), Buffer.from(sizeBytes), frame]);
}

/** An FLV file whose metadata has objects inside each other. */
export function flvOfObjects(depth: number): Buffer {
  const name = Buffer.from('02000a6f6e4d65746144617461', 'hex');
  const content = Buffer.concat([name, repeat(Buffer.from('03000161', 'hex'), depth)]);
  const size = u32(content.length).subarray(1);
  const tag = Buffer.concat([Buffer.from([18]), size, Buffer.alloc(7), content]);
  return Buffer.concat([Buffer.from('464c5601050000000900000000', 'hex'), tag, u32(tag.length)]);
}

/** An Ogg file with the beginnings of so many Opus streams. */
export function oggOfStreams(count: number): Buffer {
  const packet = Buffer.from('4f707573486561640101000080bb0000000000', 'hex');
  const pages = Array.from({ length: count }, (_, serial) => {
    const head = Buffer.alloc(28);
    head.write('OggS', 0);
    head[5] = 2;
    head.writeUInt32LE(serial, 14);
    head[26] = 1;
    head[27] = packet.length;
    const page = Buffer.concat([head, packet]);
    page.writeUInt32LE(computeCrc(page, 0), 22);
    return page;
  });
  return Buffer.concat(pages);
}

const STREAMS_OF_PROGRAM = 30;

/** An MPEG transport stream that announces so many sound streams, in programs of 30. */
export function transportOfStreams(count: number): Buffer {
  const programs = Math.ceil(count / STREAMS_OF_PROGRAM);
  const firstPid = 0x20;
  const packets: Buffer[] = [];
  for (let begin = 0; begin < programs; begin += 40) {
    const numbers = Array.from({ length: Math.min(40, programs - begin) }, (_, index) => begin + index);
    const entries = numbers.map((program) => u16(program + 1, 0xe000 | (firstPid + program)));
    packets.push(sectionPacket(0, section(0, begin / 40, Buffer.concat(entries))));
  }
  for (let program = 0; program < programs; program += 1) {
    const streams = Array.from({ length: STREAMS_OF_PROGRAM }, (_, index) => {
      const pid = firstPid + programs + program * STREAMS_OF_PROGRAM + index;
      return Buffer.concat([Buffer.from([0x0f]), u16(0xe000 | (pid & 0x1fff), 0xf000)]);
    });
    const content = Buffer.concat([u16(0xe000 | firstPid, 0xf000), ...streams]);
    packets.push(sectionPacket(firstPid + program, section(2, program + 1, content)));
  }
  return repeat(Buffer.concat(packets), 3);
}

function section(table: number, id: number, content: Buffer): Buffer {
  const length = content.length + 9;
  const bytes = Buffer.concat([
    Buffer.from([table]),
    u16(0xb000 | length, id),
    Buffer.from([0xc1, 0, 0]),
    content,
  ]);
  return Buffer.concat([bytes, u32(computeCrc(bytes, 0xffffffff))]);
}

function sectionPacket(pid: number, bytes: Buffer): Buffer {
  const head = Buffer.concat([Buffer.from([0x47]), u16(0x4000 | pid), Buffer.from([0x10, 0])]);
  return Buffer.concat([head, bytes, Buffer.alloc(Math.max(0, 188 - head.length - bytes.length), 0xff)]);
}

/** The checksum of MPEG and Ogg: bits in their order, without inversion. */
function computeCrc(bytes: Buffer, initial: number): number {
  let crc = initial;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}
