import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { benchModel } from '../../../../proof/benches/speech/own-recordings.ts';
import { speechRecordings, TEST_MODEL } from '../../../support/parts/speech-model.ts';
import { countWordErrors } from '../../../support/word-error-rate.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-bench-'));
});
afterEach(() => rm(folder, { recursive: true }));

const run = (model: string, language?: string) =>
  benchModel(model, { language, audioFolder: folder, referenceFolder: folder, ffmpeg: 'ffmpeg' });

describe('a bench of a speech model', () => {
  it('measures the real model on people who read, and leaves out files without a reference', async () => {
    const { beckett } = speechRecordings();
    await cp(beckett.path, join(folder, 'beckett.wav'));
    await cp(beckett.path, join(folder, 'other.wav'));
    await writeFile(join(folder, 'beckett.txt'), beckett.text);
    const [only, ...others] = await run(TEST_MODEL);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ file: 'beckett.wav', words: beckett.text.split(/\s+/).length });
    expect((only?.errors ?? Number.NaN) / (only?.words ?? 0)).toBeLessThan(0.2);
    expect(only?.audioSeconds).toBeCloseTo(10, 0);
    expect(only?.processorSeconds).toBeGreaterThan(0);
  });

  it('reports what is missing: references, the model, or its language', async () => {
    await expect(run(TEST_MODEL)).rejects.toThrow('Use the same name for both: call.wav and call.txt.');
    await expect(run('whisper-small')).rejects.toThrow('Install it: rtc stt install whisper-small');
  });
});

describe('countWordErrors', () => {
  it.each([
    ['the same', 'One two, three.', 'one two three', 3, 0],
    ['a substitution', 'one two three', 'one to three', 3, 1],
    ['a deletion', 'one two three', 'one three', 3, 1],
    ['an insertion', 'one two three', 'one two and three', 3, 1],
    ['nothing recognised', 'one two three', '', 3, 3],
    ['nothing said', '', 'one', 0, 1],
  ])('counts %s', (_case, said, recognised, words, errors) => {
    expect(countWordErrors(said, recognised)).toEqual({ words, errors });
  });
});
