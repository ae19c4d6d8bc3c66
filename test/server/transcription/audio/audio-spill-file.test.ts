import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SampleShelf, ShelvedSamples } from '../../../../src/server/transcription/audio/audio-spill.ts';
import { createSampleShelf } from '../../../../src/server/transcription/audio/audio-spill-file.ts';
import { namelessBytes } from '../../../support/nameless-files.ts';

let folder: string;
let shelf: SampleShelf;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-shelf-'));
  shelf = createSampleShelf({ folder });
});
afterEach(async () => {
  await shelf.close();
  await rm(folder, { recursive: true, force: true });
});

const sound = (length: number, level: number): Float32Array => new Float32Array(length).fill(level);

describe('a shelf for samples', () => {
  it('gives back what was put on it, in any order', async () => {
    const lengths = [16_000, 1, 0, 400_000, 7];
    const kept = await Promise.all(lengths.map((length, index) => shelf.put(sound(length, index))));
    const taken = await Promise.all(kept.toReversed().map(({ take }) => take()));
    expect(taken.toReversed()).toEqual(lengths.map((length, index) => sound(length, index)));
  });

  it('keeps what comes while the last one is being taken', async () => {
    let last = await shelf.put(sound(5_000, 0));
    for (let round = 1; round < 300; round += 1) {
      const [taken, next] = await Promise.all([last.take(), shelf.put(sound(5_000, round))]);
      expect(taken).toEqual(sound(5_000, round - 1));
      // The last one taken closes the file: what is put right then must not go with it.
      expect(await next.take()).toEqual(sound(5_000, round));
      last = await shelf.put(sound(5_000, round));
    }
  });

  it('has a view of a larger buffer as it is', async () => {
    const all = Float32Array.from({ length: 100 }, (_, index) => index);
    const { take } = await shelf.put(all.subarray(10, 20));
    expect(await take()).toEqual(all.slice(10, 20));
  });

  it('leaves nothing to be found in the folder', async () => {
    await shelf.put(sound(16_000, 0.5));
    expect(await readdir(folder)).toEqual([]);
  });

  it('says so where nothing can be kept, and keeps again when it can', async () => {
    const later = createSampleShelf({ folder: join(folder, 'later') });
    await expect(later.put(sound(10, 1))).rejects.toThrow('ENOENT');
    await mkdir(join(folder, 'later'));
    const { take } = await later.put(sound(10, 1));
    expect(await take()).toEqual(sound(10, 1));
    await later.close();
  });

  it.runIf(process.platform === 'linux')('takes no room on the disk once all is taken', async () => {
    const kept = await Promise.all([1, 2, 3].map((level) => shelf.put(sound(100_000, level))));
    expect(await namelessBytes(folder)).toBe(1_200_000);
    kept[0]?.drop();
    for (const { take } of kept.slice(1)) await take();
    await vi.waitUntil(async () => (await namelessBytes(folder)) === 0, 20_000);
    const { take } = await shelf.put(sound(10, 1));
    expect(await namelessBytes(folder)).toBe(40);
    await take();
  });

  it.runIf(process.platform === 'linux')(
    'takes little more room than what waits, though it never empties',
    async () => {
      const volumeBytes = 40_000;
      const narrow = createSampleShelf({ folder, volumeBytes });
      const waiting: ShelvedSamples[] = [];
      for (let round = 0; round < 200; round += 1) {
        waiting.push(await narrow.put(sound(1_000, round)));
        if (waiting.length <= 5) continue;
        expect(await waiting.shift()?.take()).toEqual(sound(1_000, round - 5));
        expect(await namelessBytes(folder)).toBeLessThanOrEqual(6 * 4_000 + 2 * volumeBytes);
      }
      await narrow.close();
      expect(await namelessBytes(folder)).toBe(0);
    },
  );
});
