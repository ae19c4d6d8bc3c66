import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type AudioSpillFile,
  createAudioSpillFile,
  type SpilledBuffer,
} from '../../../../src/server/transcription/audio/audio-spill-file.ts';
import { namelessBytes } from '../../../support/nameless-files.ts';

let folder: string;
let spillFile: AudioSpillFile;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-spillFile-'));
  spillFile = createAudioSpillFile({ folder });
});
afterEach(async () => {
  await spillFile.close();
  await rm(folder, { recursive: true, force: true });
});

const sound = (length: number, level: number): Float32Array => new Float32Array(length).fill(level);

describe('an audio spill file', () => {
  it('returns buffers in any order', async () => {
    const lengths = [16_000, 1, 0, 400_000, 7];
    const kept = await Promise.all(lengths.map((length, index) => spillFile.write(sound(length, index))));
    const taken = await Promise.all(kept.toReversed().map(({ read }) => read()));
    expect(taken.toReversed()).toEqual(lengths.map((length, index) => sound(length, index)));
  });

  it('keeps a buffer that is written while the last one is read', async () => {
    let last = await spillFile.write(sound(5_000, 0));
    for (let round = 1; round < 300; round += 1) {
      const [taken, next] = await Promise.all([last.read(), spillFile.write(sound(5_000, round))]);
      expect(taken).toEqual(sound(5_000, round - 1));
      // When the last buffer is taken, the file is closed. A buffer that is spilled just then must not be lost with it.
      expect(await next.read()).toEqual(sound(5_000, round));
      last = await spillFile.write(sound(5_000, round));
    }
  });

  it('stores a view of a larger buffer unchanged', async () => {
    const all = Float32Array.from({ length: 100 }, (_, index) => index);
    const { read } = await spillFile.write(all.subarray(10, 20));
    expect(await read()).toEqual(all.slice(10, 20));
  });

  it('leaves no file in the folder', async () => {
    await spillFile.write(sound(16_000, 0.5));
    expect(await readdir(folder)).toEqual([]);
  });

  it('rejects a write when the folder is missing, and works again when it exists', async () => {
    const later = createAudioSpillFile({ folder: join(folder, 'later') });
    await expect(later.write(sound(10, 1))).rejects.toThrow('ENOENT');
    await mkdir(join(folder, 'later'));
    const { read } = await later.write(sound(10, 1));
    expect(await read()).toEqual(sound(10, 1));
    await later.close();
  });

  it.runIf(process.platform === 'linux')('frees the disk space when every buffer was read', async () => {
    const kept = await Promise.all([1, 2, 3].map((level) => spillFile.write(sound(100_000, level))));
    expect(await namelessBytes(folder)).toBe(1_200_000);
    kept[0]?.discard();
    for (const { read } of kept.slice(1)) await read();
    await vi.waitUntil(async () => (await namelessBytes(folder)) === 0, 60_000);
    const { read } = await spillFile.write(sound(10, 1));
    expect(await namelessBytes(folder)).toBe(40);
    await read();
  });

  it.runIf(process.platform === 'linux')(
    'takes little more disk space than its content, even when it is never empty',
    async () => {
      const volumeBytes = 40_000;
      const narrow = createAudioSpillFile({ folder, volumeBytes });
      const waiting: SpilledBuffer[] = [];
      for (let round = 0; round < 200; round += 1) {
        waiting.push(await narrow.write(sound(1_000, round)));
        if (waiting.length <= 5) continue;
        expect(await waiting.shift()?.read()).toEqual(sound(1_000, round - 5));
        expect(await namelessBytes(folder)).toBeLessThanOrEqual(6 * 4_000 + 2 * volumeBytes);
      }
      await narrow.close();
      expect(await namelessBytes(folder)).toBe(0);
    },
  );
});
