import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Figure, Figures } from './figures.ts';

/** docs/proof has the results of the full run. The short run runs in a few seconds, with the tests. */
export type RunSize = 'long' | 'short';

export type Findings = {
  readonly figures: Figures;
  /** Versions of the third-party programs that took part. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Remarks about the figures, in whole sentences. */
  readonly notes?: readonly string[];
};

export type ExperimentContext = {
  readonly runSize: RunSize;
  /** Reports progress. */
  readonly report: (line: string) => void;
  /** Registers something to end with the experiment, and returns it. The last one is ended first. */
  readonly cleanUp: <Started extends Closable>(started: Started) => Started;
};

/** The part of the context of whatever only starts something. */
export type Cleaning = Pick<ExperimentContext, 'cleanUp'>;

type Closable = (() => unknown) | { readonly close: () => unknown };

/**
 * An attack on a claim of the service. Its entry in `experiments.ts` adds it to the run, and its page in docs/proof says
 * what is claimed, how it is attacked, and what is not claimed.
 */
export type Experiment = {
  readonly name: string;
  readonly run: (context: ExperimentContext) => Promise<Findings>;
};

/** Findings of one run of an experiment, with the place and time. */
export type Result = Findings & {
  readonly experiment: string;
  readonly runSize: RunSize;
  /** End of the run, in UTC. */
  readonly endedAt: string;
  readonly seconds: number;
  /** Hashes of src and proof in git, and whether files have changed since. */
  readonly sources: string;
  readonly commit: string;
  readonly machine: string;
  readonly node: string;
  /** Load averages of one minute, before and after. They show how much other programs used the processor. */
  readonly load: readonly [before: number, after: number];
};

/** No experiment takes longer. One that does is stuck. */
const MAX_MINUTES = 60;

export async function runExperiment(
  experiment: Experiment,
  runSize: RunSize,
  report: (line: string) => void,
): Promise<Result> {
  const closers: (() => unknown)[] = [];
  const before = currentLoad();
  const startedAt = performance.now();
  const tooLong = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => tooLong.reject(new Error(`${experiment.name} took longer than ${MAX_MINUTES} minutes`)),
    MAX_MINUTES * 60_000,
  );
  try {
    const cleanUp: ExperimentContext['cleanUp'] = (started) => {
      closers.push(typeof started === 'function' ? started : started.close);
      return started;
    };
    const running = experiment.run({ runSize, report, cleanUp });
    const findings = await Promise.race([running, tooLong.promise]);
    return {
      experiment: experiment.name,
      runSize,
      endedAt: `${new Date().toISOString().slice(0, 16)}Z`,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      sources: hashSources(),
      commit: git('rev-parse', '--short', 'HEAD'),
      machine: describeMachine(),
      node: process.versions.node,
      load: [before, currentLoad()],
      ...findings,
      figures: runSize === 'long' ? findings.figures : findings.figures.map(withoutTime),
    };
  } finally {
    clearTimeout(timer);
    for (const close of closers.reverse()) await close();
  }
}

/** Makes a folder that is removed with the experiment. */
export async function makeFolder({ cleanUp }: Cleaning): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-prove-'));
  cleanUp(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns a figure without its claim if it is a time. The short run claims no times, because its machine may be busy. */
function withoutTime(figure: Figure): Figure {
  const { bound: _bound, holds: _holds, ...seen } = figure;
  return UNITS_OF_TIME.has(figure.unit ?? '') ? seen : figure;
}

const UNITS_OF_TIME: ReadonlySet<string> = new Set([' ms', ' s', ' % of a core']);

/** Whether every claim of the experiment holds. */
export function holds({ figures }: Pick<Result, 'figures'>): boolean {
  return figures.every((figure) => figure.holds !== false);
}

/** Whether the result is of the present sources and of this machine. */
export function isCurrent({ sources, machine }: Pick<Result, 'sources' | 'machine'>): boolean {
  return sources === hashSources() && machine === describeMachine();
}

/** Returns a hash that changes with the service and with the experiments. Results for another hash may no longer be true. */
function hashSources(): string {
  const changed = git('status', '--porcelain', '--', ':/src', ':/proof', ':!/proof/results.json');
  return `${git('rev-parse', '--short', 'HEAD:src')}${changed === '' ? '' : '+'}`;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
}

function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores of ${model}, ${gigabytes} GB, ${process.platform} ${release()}`;
}

function currentLoad(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}
