import { describe, expect, it } from 'vitest';
import { SAMPLE_RATE } from '../../../../src/server/transcription/engines/speech.ts';
import { createSoundBox } from '../../../../src/server/transcription/turns/sound-box.ts';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const PLACE = { recordingId: 'rec_1', trackId: 'TR_ada', startedAt: 1_000 };
const SOUND = Float32Array.from({ length: 2.5 * SAMPLE_RATE }, (_, at) => Math.sin(at / 7) * 0.8);

describe('encrypted audio', () => {
  it('has parts of a second, each with a nonce of its own, and can be decrypted', () => {
    const box = createSoundBox([NEW]);
    const parts = box.seal(SOUND, PLACE);
    expect(parts.map(({ part }) => part)).toEqual([0, 1, 2]);
    const nonces = parts.map(({ sealed }) => Buffer.from(sealed, 'base64').subarray(0, 12).toString('hex'));
    expect(
      new Set([...nonces, ...box.seal(SOUND, PLACE).map(({ sealed }) => sealed.slice(0, 16))]).size,
    ).toBe(6);
    const opened = box.open(parts, PLACE);
    expect(opened.length).toBe(SOUND.length);
    expect(Math.max(...opened.map((sample, at) => Math.abs(sample - (SOUND[at] ?? 0))))).toBeLessThan(1e-4);
  });

  it('can be decrypted with an earlier key, and the missing key is named', () => {
    const parts = createSoundBox([OLD]).seal(SOUND, PLACE);
    const keyId = parts[0]?.keyId ?? '';
    expect(createSoundBox([NEW, OLD]).open(parts, PLACE).length).toBe(SOUND.length);
    expect(createSoundBox([NEW, OLD]).canOpen(keyId)).toBe(true);
    expect(createSoundBox([NEW]).canOpen(keyId)).toBe(false);
    expect(() => createSoundBox([NEW]).open(parts, PLACE)).toThrow('is not configured');
  });

  it.each([
    ['of another recording', { ...PLACE, recordingId: 'rec_2' }],
    ['of another track', { ...PLACE, trackId: 'TR_bob' }],
    ['of another time', { ...PLACE, startedAt: 1_001 }],
  ])('cannot be decrypted as the audio %s', (_, place) => {
    const box = createSoundBox([NEW]);
    expect(() => box.open(box.seal(SOUND, PLACE), place)).toThrow();
  });

  it('cannot be decrypted when its parts were exchanged or changed', () => {
    const box = createSoundBox([NEW]);
    const [first, second] = box.seal(SOUND, PLACE);
    if (first === undefined || second === undefined) throw new Error('there are three');
    expect(() => box.open([second, first], PLACE)).toThrow();
    const changed = Buffer.from(first.sealed, 'base64').fill(0, 20, 21);
    expect(() => box.open([{ ...first, sealed: changed.toString('base64') }], PLACE)).toThrow();
  });

  it('clips samples that are louder than full scale', () => {
    const box = createSoundBox([NEW]);
    const opened = box.open(box.seal(Float32Array.from([1.5, -1.5, 1, -1]), PLACE), PLACE);
    expect([...opened].map((sample) => Math.round(sample * 1000) / 1000)).toEqual([1, -1, 1, -1]);
  });
});
