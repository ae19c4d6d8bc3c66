import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import type { Findings, Form, ProofPart } from './part.ts';

/** Findings of one run of a part, with the place and time. */
export type Result = Findings & {
  readonly part: string;
  readonly form: Form;
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

/** No part takes longer. One that does is stuck. */
const MAX_MINUTES = 60;

export async function runPart(part: ProofPart, form: Form, report: (line: string) => void): Promise<Result> {
  const closers: (() => unknown)[] = [];
  const before = currentLoad();
  const startedAt = performance.now();
  const tooLong = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => tooLong.reject(new Error(`${part.name} took longer than ${MAX_MINUTES} minutes`)),
    MAX_MINUTES * 60_000,
  );
  try {
    const running = part.run({ form, report, cleanUp: (close) => closers.push(close) });
    const findings = await Promise.race([running, tooLong.promise]);
    return {
      part: part.name,
      form,
      endedAt: `${new Date().toISOString().slice(0, 16)}Z`,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      sources: sourceHash(),
      commit: git('rev-parse', '--short', 'HEAD'),
      machine: machine(),
      node: process.versions.node,
      load: [before, currentLoad()],
      ...findings,
    };
  } finally {
    clearTimeout(timer);
    for (const close of closers.reverse()) await close();
  }
}

/** Whether every claim of the part holds. */
export function holds({ figures }: Pick<Result, 'figures'>): boolean {
  return figures.every((figure) => figure.holds !== false);
}

/** Returns a hash that changes with the service and with the parts. Results for another hash may no longer be true. */
export function sourceHash(): string {
  const changed = git('status', '--porcelain', '--', 'src', 'proof') === '' ? '' : '+';
  return `${git('rev-parse', '--short', 'HEAD:src')}${changed}`;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores of ${model}, ${gigabytes} GB, ${process.platform} ${release()}`;
}

function currentLoad(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}
