import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import type { Findings, Form, ProofPart } from './part.ts';

/** What one run of a part found, where and when. */
export type Result = Findings & {
  readonly part: string;
  readonly form: Form;
  /** The end of the run, in UTC. */
  readonly endedAt: string;
  readonly seconds: number;
  /** The sources that were run: the hashes of src and prove in git, and whether they were changed since. */
  readonly sources: string;
  readonly commit: string;
  readonly machine: string;
  readonly node: string;
  /** Load averages of one minute before and after: other programs take the processor too. */
  readonly load: readonly [before: number, after: number];
};

/** No part takes longer: what would is a mistake. */
const MAX_MINUTES = 60;

export async function runPart(part: ProofPart, form: Form, say: (line: string) => void): Promise<Result> {
  const closers: (() => unknown)[] = [];
  const before = currentLoad();
  const startedAt = performance.now();
  const tooLong = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => tooLong.reject(new Error(`${part.name} took longer than ${MAX_MINUTES} minutes`)),
    MAX_MINUTES * 60_000,
  );
  try {
    const running = part.run({ form, say, cleanUp: (close) => closers.push(close) });
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

/** Whether everything that the part claims was seen. */
export function holds({ figures }: Pick<Result, 'figures'>): boolean {
  return figures.every((figure) => figure.holds !== false);
}

/** Changes with the service and with the parts: what was seen of others need not be true any more. */
export function sourceHash(): string {
  const changed = git('status', '--porcelain', '--', 'src', 'prove') === '' ? '' : '+';
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
