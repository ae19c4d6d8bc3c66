import { describe, expect, it } from 'vitest';
import { SampleRingBuffer } from '../../../../src/server/transcription/audio/sample-ring-buffer.ts';
import { splitSegment } from '../../../../src/server/transcription/audio/split-segment.ts';
import { toWav } from '../../../../src/server/transcription/engines/openai/openai-engine.ts';
import { matchLanguage } from '../../../../src/server/transcription/engines/speech.ts';
import { moonshineTokens } from '../../../../src/server/transcription/models/install-model.ts';

const RATE = 16_000;

/** Loud sound with pauses of 100 ms. */
function speech(seconds: number, pausesAt: readonly number[]): Float32Array {
  const samples = new Float32Array(seconds * RATE).map((_, index) => Math.sin(index / 7));
  for (const at of pausesAt) samples.fill(0, at * RATE, (at + 0.1) * RATE);
  return samples;
}

describe('splitSegment', () => {
  const lengths = (samples: Float32Array, maxSeconds = 8) =>
    splitSegment({ start: 100, samples }, maxSeconds * RATE).map((piece) => piece.samples.length);

  it('keeps a segment that fits in one piece', () => {
    expect(lengths(speech(8, []))).toEqual([8 * RATE]);
    expect(lengths(new Float32Array(8 * RATE + 1))).toHaveLength(2);
    expect(lengths(new Float32Array(0))).toEqual([0]);
  });

  it('cuts in the middle of a pause', () => {
    const [first = 0, second = 0] = lengths(speech(12, [5]));
    expect(first / RATE).toBeCloseTo(5.05, 1);
    expect(first + second).toBe(12 * RATE);
  });

  it('puts each sample into exactly one piece, in order, and every piece fits', () => {
    const samples = speech(61, [3, 9.5, 20, 33.3, 41, 55]);
    const pieces = splitSegment({ start: 100, samples }, 8 * RATE);
    let start = 100;
    for (const piece of pieces) {
      expect(piece.start).toBe(start);
      expect(piece.samples.length).toBeLessThanOrEqual(8 * RATE);
      expect(piece.samples.length).toBeGreaterThan(0);
      start += piece.samples.length;
    }
    expect(Float32Array.from(pieces.flatMap((piece) => [...piece.samples]))).toEqual(samples);
  });
});

describe('moonshineTokens', () => {
  /** The format of the tokenizer's file. */
  const pack = (tokens: readonly Uint8Array[]): Uint8Array =>
    Uint8Array.from(
      tokens.flatMap((token) => {
        const { length } = token;
        const head = length < 128 ? [length] : [(length % 128) + 128, Math.floor(length / 128)];
        return [...head, ...token];
      }),
    );
  const unpack = (text: string): readonly Uint8Array[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line, index) => {
        const [base64 = '', id] = line.split('\t');
        expect(id).toBe(String(index));
        return Uint8Array.from(Buffer.from(base64, 'base64'));
      });

  it('converts every token, including empty and long ones', () => {
    const tokens = [0, 1, 5, 127, 128, 129, 255, 256, 300].map((length) =>
      Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 256),
    );
    expect(unpack(moonshineTokens(pack(tokens)))).toEqual(tokens);
  });

  it('rejects a file that ends inside a token', () => {
    expect(() => moonshineTokens(Uint8Array.from([1, 65, 3, 66, 67]))).toThrow('damaged');
    expect(() => moonshineTokens(Uint8Array.from([1, 65, 130, 1, 66]))).toThrow('damaged');
  });
});

describe('matchLanguage', () => {
  it.each([
    ['en', ['en'], 'en'],
    ['en-GB', ['en'], 'en'],
    ['EN-gb', ['de', 'en-GB', 'en'], 'en-GB'],
    ['en-GB', ['en-US', 'en'], 'en'],
    ['en-GB', ['de', 'en-US'], 'en-US'],
    ['zh-Hant-TW', ['zh'], 'zh'],
    ['it', ['en', 'de'], undefined],
    ['e', ['en'], undefined],
    ['en', [], undefined],
  ])('%s among %j is %s', (wanted, available, found) => {
    expect(matchLanguage(wanted, available)).toBe(found);
  });
});

describe('toWav', () => {
  it('writes a RIFF file with 16 bits per sample', () => {
    const file = Buffer.from(toWav(Float32Array.from([0, 0.5, 1, -1, 2, -2]), RATE));
    expect(file.toString('latin1', 0, 4)).toBe('RIFF');
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    expect(file.toString('latin1', 8, 16)).toBe('WAVEfmt ');
    expect([file.readUInt16LE(20), file.readUInt16LE(22), file.readUInt32LE(24)]).toEqual([1, 1, RATE]);
    expect([file.readUInt32LE(28), file.readUInt16LE(32), file.readUInt16LE(34)]).toEqual([2 * RATE, 2, 16]);
    expect(file.toString('latin1', 36, 40)).toBe('data');
    expect(file.readUInt32LE(40)).toBe(12);
    const samples = [0, 1, 2, 3, 4, 5].map((index) => file.readInt16LE(44 + 2 * index));
    expect(samples).toEqual([0, 16_384, 32_767, -32_767, 32_767, -32_767]);
  });

  it('encodes an empty recording', () => {
    expect(Buffer.from(toWav(new Float32Array(0), RATE)).readUInt32LE(40)).toBe(0);
  });
});

describe('SampleRingBuffer', () => {
  it('reads samples by their index in the stream, across the end of the ring', () => {
    const history = new SampleRingBuffer(10);
    for (let at = 0; at < 24; at += 4) history.push(Float32Array.from([at, at + 1, at + 2, at + 3]));
    expect(history.length).toBe(24);
    expect(history.read(16, 22)).toEqual({ start: 16, samples: Float32Array.from([16, 17, 18, 19, 20, 21]) });
    expect(history.read(0, 15)).toEqual({ start: 14, samples: Float32Array.from([14]) });
    expect(history.read(22, 99)).toEqual({ start: 22, samples: Float32Array.from([22, 23]) });
    expect(history.read(30, 40).samples).toHaveLength(0);
    history.push(Float32Array.from({ length: 25 }, (_, index) => 24 + index));
    expect(history.read(0, 99).samples).toEqual(Float32Array.from({ length: 10 }, (_, index) => 39 + index));
    history.clear();
    expect(history.read(0, 99)).toEqual({ start: 0, samples: new Float32Array(0) });
  });
});
