import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDir } from '../../../src/server/dev/binaries/go-binary.ts';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { openTestModel, speechRecordings, testModel } from '../../../test/support/parts/speech-model.ts';
import { processorSeconds } from '../../support/process-figures.ts';

/** A transcription of samples in memory. */
type Heard = {
  readonly seconds: number;
  /** Processor time of this process, with the threads of the recogniser. */
  readonly processorSeconds: number;
  readonly text: string;
};

const SAMPLE_RATE = 16_000;

const speech: { opened?: ReturnType<typeof openTestModel> } = {};

/** Resolves to the processor time that the model alone takes for a second of the test recording. */
export async function bareShare(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-bench-bare-'));
  try {
    const wav = join(folder, 'speech.wav');
    await writeSamples(wav);
    const samples = await readSamples(wav);
    // Warms up.
    await transcribe(samples);
    const { processorSeconds } = await transcribe(samples);
    return processorSeconds / (samples.length / SAMPLE_RATE);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the test recording as 16-bit samples. */
async function writeSamples(path: string): Promise<void> {
  await runFfmpeg(['-i', speechRecordings().twoCities.path, '-ar', String(SAMPLE_RATE), '-ac', '1', path]);
}

async function readSamples(path: string): Promise<Float32Array> {
  const file = await readFile(path);
  const at = file.indexOf('data') + 8;
  return Float32Array.from(
    { length: (file.length - at) >> 1 },
    (_, index) => file.readInt16LE(at + 2 * index) / 32_768,
  );
}

/** Runs the voice activity detector and the recogniser, without a worker, a database or a file. */
async function transcribe(samples: Float32Array): Promise<Heard> {
  speech.opened ??= openTestModel();
  const { engine, createDetector } = speech.opened;
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  const detector = createDetector(0.3, 'en');
  const texts: string[] = [];
  for (const segment of [...detector.push(samples), ...detector.flush()]) {
    texts.push((await engine.recognise({ samples: segment.samples, language: 'en' })).text);
  }
  return {
    seconds: (performance.now() - startedAt) / 1000,
    processorSeconds: processorSeconds(before),
    text: texts.join(' '),
  };
}

const run = promisify(execFile);

export type OwnRun = Pick<Heard, 'seconds' | 'text'>;

type SideBySide = { readonly engine: readonly Heard[]; readonly ownRunner: readonly OwnRun[] };

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
