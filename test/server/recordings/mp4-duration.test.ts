import { describe, expect, it } from 'vitest';
import { silentMp4 } from '../../../src/server/media-simulator/silent-mp4.ts';
import { readMp4Duration } from '../../../src/server/recordings/mp4-duration.ts';

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** Makes a box with a size of 64 bits. */
function longBox(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write(type, 4, 'latin1');
  head.writeBigUInt64BE(BigInt(content.length + 16), 8);
  return Buffer.concat([head, content]);
}

function movieHeader(duration: number, timescale = 1000): Buffer {
  const fields = Buffer.alloc(100);
  fields.writeUInt32BE(timescale, 12);
  fields.writeUInt32BE(duration, 16);
  return box('mvhd', fields);
}

function longMovieHeader(duration: bigint, timescale: number): Buffer {
  const fields = Buffer.alloc(112);
  fields.writeUInt8(1);
  fields.writeUInt32BE(timescale, 20);
  fields.writeBigUInt64BE(duration, 24);
  return box('mvhd', fields);
}

const FTYP = box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2'));
const MEDIA = Buffer.alloc(100_000, 0xaa);

async function read(file: Buffer) {
  const parts: (readonly [number, number])[] = [];
  const durationMs = await readMp4Duration(async (start, length) => {
    parts.push([start, length]);
    return file.subarray(start, start + length);
  }, file.length);
  return { durationMs, parts, readBytes: parts.reduce((sum, [, length]) => sum + length, 0) };
}

describe('the duration of an MP4 file', () => {
  it('is read when the header precedes the media', async () => {
    const { durationMs, parts } = await read(silentMp4(61_234));
    expect(durationMs).toBe(61_234);
    expect(parts).toHaveLength(1);
  });

  it('is read when the header follows the media, which is not read', async () => {
    const file = Buffer.concat([
      FTYP,
      box('free'),
      box('mdat', MEDIA),
      box('moov', movieHeader(2_500, 1000), box('trak')),
    ]);
    const { durationMs, parts, readBytes } = await read(file);
    expect(durationMs).toBe(2_500);
    expect(parts).toHaveLength(2);
    expect(readBytes).toBeLessThanOrEqual(1024);
  });

  it('is read with sizes and durations of 64 bits', async () => {
    const file = Buffer.concat([
      FTYP,
      longBox('mdat', MEDIA),
      box('moov', longMovieHeader(90_000n * 60n, 90_000)),
    ]);
    expect((await read(file)).durationMs).toBe(60_000);
  });

  it('is rounded to milliseconds', async () => {
    expect((await read(Buffer.concat([FTYP, box('moov', movieHeader(1_001, 30_000))]))).durationMs).toBe(33);
  });

  it.each<[string, Buffer]>([
    ['is empty', Buffer.alloc(0)],
    ['is no MP4', Buffer.from('OggS'.repeat(200))],
    ['was not finished', Buffer.concat([FTYP, box('mdat', MEDIA)])],
    ['ends within a head', Buffer.concat([FTYP, box('moov', movieHeader(9)).subarray(0, 12)])],
    ['ends within its header', Buffer.concat([FTYP, box('moov', movieHeader(9)).subarray(0, 30)])],
    ['says that it does not know', Buffer.concat([FTYP, box('moov', movieHeader(0xffff_ffff))])],
    ['has its media in fragments', Buffer.concat([FTYP, box('moov', movieHeader(0))])],
    ['counts in no unit', Buffer.concat([FTYP, box('moov', movieHeader(9, 0))])],
    [
      'has a box larger than itself',
      Buffer.concat([FTYP, Buffer.from([0xff, 0xff, 0xff, 0xff]), Buffer.from('mdat')]),
    ],
    [
      'has a box smaller than its head',
      Buffer.concat([FTYP, Buffer.from([0, 0, 0, 3]), Buffer.from('mdat'), MEDIA]),
    ],
    [
      'has a huge box of 64 bits',
      Buffer.concat([FTYP, Buffer.from([0, 0, 0, 1]), Buffer.from('mdat'), Buffer.alloc(8, 0xff), MEDIA]),
    ],
    ['has no end of boxes', Buffer.concat([FTYP, ...Array.from({ length: 5_000 }, () => box('free'))])],
  ])('is unknown for a file that %s, after little reading', async (_what, file) => {
    const { durationMs, readBytes } = await read(file);
    expect(durationMs).toBeUndefined();
    expect(readBytes).toBeLessThanOrEqual(2048);
  });

  it('takes a limited number of reads in a thousand damaged files', async () => {
    const whole = silentMp4(1_000);
    for (let seed = 0; seed < 1_000; seed += 1) {
      const damaged = Buffer.from(whole);
      for (let at = 0; at < 4; at += 1) damaged[(seed * 31 + at * 97) % 256] = (seed * 7 + at * 13) % 256;
      const { durationMs, parts } = await read(damaged);
      expect(durationMs === undefined || Number.isSafeInteger(durationMs)).toBe(true);
      expect(parts.length).toBeLessThan(40);
    }
  });
});
