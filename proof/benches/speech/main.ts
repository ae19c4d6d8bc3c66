import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { speechRecordings } from '../../../test/support/parts/speech-model.ts';
import { wordErrorRate } from '../../../test/support/word-error-rate.ts';
import { bareShare, measureSideBySide, type OwnRun } from './bare-recogniser.ts';
import { measureLong, measureRecorded, type RecordedFigures } from './recorded.ts';
import { openStage, type SpeechStage } from './stage.ts';
import { STAGES, type Stage } from './stage-clock.ts';

/*
 * `npm run bench:speech`, after `npm run build`, measures what speech to text costs. `--only live|recorded|side-by-side`
 * runs one part. Other parts run only if they are named: `--only calls [--calls 60]` measures the memory after many short
 * calls, at about six seconds a call; `--only turns`
 * measures what it costs to know who speaks in a room that is recorded; `--only long [--times 325]` transcribes a recording
 * from a bucket, which repeats a reading of 44 s. By default it has four hours, which take up to ten minutes. The workers are
 * those of `rtc worker`, with the small English model. Everything runs on this machine, including the media server and the
 * speakers.
 */

// The speakers' room client reads this when it is loaded. Outside of production it prints a line for every caption.
process.env.NODE_ENV = 'production';
const { measureLive } = await import('./live.ts');
const { measureCalls } = await import('./live.ts');
const { measureTurns } = await import('./turns.ts');

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    calls: { type: 'string', default: '60' },
    times: { type: 'string', default: '325' },
  },
});
const isWanted = (name: string): boolean => values.only === undefined || values.only === name;

if (isWanted('live') || isWanted('recorded')) {
  const stage = await openStage();
  try {
    if (isWanted('live')) await live(stage);
    if (isWanted('recorded')) await recorded(stage);
  } finally {
    await stage.close();
  }
}
if (isWanted('side-by-side')) await sideBySide();
if (values.only === 'long') await long(Number(values.times));
if (values.only === 'turns') await turns();
if (values.only === 'calls') await calls(Number(values.calls));
// The room client keeps the process alive.
process.exit();

async function live(on: SpeechStage): Promise<void> {
  const { passages, utterances, peakBytes } = await measureLive(on);
  const at = (values: readonly number[], share: number): string => {
    const sorted = values.toSorted((a, b) => a - b);
    return `${Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN)} ms`;
  };
  const early = passages.filter(({ isEarly }) => isEarly).length;
  const figures = (key: Stage | 'stored' | 'total', [p50, p95]: readonly string[] = ['', '']): string => {
    const values = passages.map((passage) => passage[key]);
    return `p50 ${at(values, 0.5)}${p50}, p95 ${at(values, 0.95)}${p95}, worst ${at(values, 1)}`;
  };
  console.log(`live, five speakers at once: ${passages.length} of ${utterances} utterances printed`);
  console.log(`    recognised before the pause was over: ${early}; load ${loadavg()[0]?.toFixed(1)}`);
  for (const stage of STAGES) console.log(`    ${stage.padEnd(8)}  ${figures(stage)}`);
  console.log(`    end of speech to stored segment: ${figures('stored')}`);
  console.log(
    `    end of speech to follow's line: ${figures('total', [' (at most 500)', ' (at most 900)'])}`,
  );
  console.log(`    memory of the worker: ${megabytes(peakBytes)} (at most 500 MB)`);
}

async function calls(count: number): Promise<void> {
  const stage = await openStage();
  try {
    console.log('calls of three people; memory of the worker after call');
    const memory: number[] = [];
    const segments = await measureCalls(stage, {
      calls: count,
      onCall: (call, bytes) => {
        memory.push(bytes);
        if (call === 1 || call === count || call % 10 === 0) console.log(`    ${call}: ${megabytes(bytes)}`);
      },
    });
    const growth = (memory.at(-1) ?? Number.NaN) / (memory[0] ?? Number.NaN);
    console.log(`    ratio of the last call's memory to the first one's: ${growth.toFixed(2)}`);
    console.log(`    ${segments} segments of ${count * 3} sentences stored`);
  } finally {
    await stage.close();
  }
}

async function turns(): Promise<void> {
  const stage = await openStage();
  try {
    const { detectorShare, workerShare, idleShare, turns } = await measureTurns(stage);
    const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
    console.log(`who speaks when, five open microphones in a room that is recorded: ${turns} turns stored`);
    console.log(`    the voice detectors: ${percent(detectorShare)} of one core (at most 2 %)`);
    console.log(
      `    the whole worker, which receives and decodes the five tracks: ${percent(workerShare)}; idle ${percent(idleShare)}`,
    );
    console.log(
      `    ratio of the worker to the detectors alone: ${(workerShare / detectorShare).toFixed(1)}`,
    );
  } finally {
    await stage.close();
  }
}

async function recorded(on: SpeechStage): Promise<void> {
  for (const times of [4, 40]) {
    const figures = await measureRecorded(on, times);
    await printFigures(`recorded, ${(figures.audioSeconds / 60).toFixed(0)} min`, figures);
  }
}

async function long(times: number): Promise<void> {
  const figures = await measureLong(times);
  const { audioSeconds, fileBytes, texts } = figures;
  await printFigures(
    `recorded, ${(audioSeconds / 3600).toFixed(2)} h, ${megabytes(fileBytes)} in a bucket`,
    figures,
  );
  console.log(`    ${texts.length} segments, word error rate ${(figures.wordErrorRate * 100).toFixed(1)} %`);
}

async function printFigures(
  what: string,
  { audioSeconds, seconds, processorSeconds, peakBytes }: RecordedFigures,
): Promise<void> {
  const share = (part: number): string =>
    `${part.toFixed(1)} s, ${(part / audioSeconds).toFixed(4)} of its length`;
  console.log(`${what}: ${share(seconds)} (at most 0.06); of processors ${share(processorSeconds)}`);
  const ratio = processorSeconds / audioSeconds / (await bareShare());
  console.log(`    ratio to the bare recogniser, of processor time: ${ratio.toFixed(2)}`);
  console.log(`    memory of the worker: ${megabytes(peakBytes)} (at most 500 MB)`);
}

async function sideBySide(): Promise<void> {
  const { engine, ownRunner } = await measureSideBySide();
  const best = (all: readonly OwnRun[]): number => Math.min(...all.map(({ seconds }) => seconds));
  const said = speechRecordings().twoCities.text;
  const wer = (all: readonly OwnRun[]): string =>
    `${(wordErrorRate(said, all[0]?.text ?? '') * 100).toFixed(1)} %`;
  console.log("side by side with the model's own Python runner, 44 s of speech, model loaded:");
  console.log(`    ours ${best(engine).toFixed(2)} s, word error rate ${wer(engine)}`);
  console.log(`    its own ${best(ownRunner).toFixed(2)} s, word error rate ${wer(ownRunner)}`);
  console.log(`    ratio ${(best(ownRunner) / best(engine)).toFixed(1)} (at least 1)`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
