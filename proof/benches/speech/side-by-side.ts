import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDir } from '../../../src/server/dev/binaries/go-binary.ts';
import { testModel } from '../../../test/support/parts/speech-model.ts';
import { type Heard, readSamples, transcribe, writeSamples } from './bare-recogniser.ts';

const run = promisify(execFile);

export type OwnRun = Pick<Heard, 'seconds' | 'text'>;
export type SideBySide = { readonly engine: readonly Heard[]; readonly ownRunner: readonly OwnRun[] };

const ROUNDS = 3;

/**
 * Measures the recognition of samples in memory, with the model loaded, in turns with the model's own runner in its own
 * Python environment.
 */
export async function measureSideBySide(): Promise<SideBySide> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-bench-moonshine-'));
  try {
    const wav = join(folder, 'speech.wav');
    await writeSamples(wav);
    await run('python3', ['-m', 'venv', join(folder, 'venv')]);
    const python = join(folder, 'venv', 'bin', 'python');
    await run(python, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      'moonshine-voice==0.0.44',
    ]);
    const model = testModel(defaultCacheDir(process.env)) ?? '';
    const samples = await readSamples(wav);
    const engineRuns: Heard[] = [];
    const runnerRuns: OwnRun[] = [];
    await transcribe(samples);
    for (let round = 0; round < ROUNDS; round += 1) {
      engineRuns.push(await transcribe(samples));
      const runner = join(import.meta.dirname, 'python_runner.py');
      const { stdout } = await run(python, [runner, model, wav]);
      runnerRuns.push(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as OwnRun);
    }
    return { engine: engineRuns, ownRunner: runnerRuns };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
