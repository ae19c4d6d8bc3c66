import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { LAUNCHER, ROOT } from '../../support/parts/built.ts';

/** With coverage, processes run the source instead of the bundles, so that their branches count. */
export const COVERAGE_ENVIRONMENT: Readonly<Record<string, string>> =
  process.env.NODE_V8_COVERAGE === undefined
    ? {}
    : {
        NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE,
        NODE_OPTIONS: `--import=${ROOT}scripts/coverage/from-source.ts`,
      };

export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type ProcessOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Arguments of Node itself, before the launcher. */
  readonly nodeArguments?: readonly string[];
  readonly launcher?: string;
  readonly cwd?: string;
};

export type Started = {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when stdout and stderr together match. */
  seen(pattern: RegExp): Promise<void>;
  readonly ended: Promise<Ended>;
  /** Stdout and stderr so far. */
  output(): string;
};

/** Runs the built rtc in its own process. Of our environment it gets only PATH. */
export function startRtc(argv: readonly string[], options: ProcessOptions = {}): Started {
  const words = [...(options.nodeArguments ?? []), options.launcher ?? LAUNCHER, ...argv];
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...COVERAGE_ENVIRONMENT, ...options.env },
    cwd: options.cwd ?? ROOT,
  });
  const texts = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk;
      for (const check of waiting) check();
    });
  }
  child.stdin.on('error', () => undefined);
  if (options.stdin !== undefined) child.stdin.end(options.stdin);
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...texts }) as Ended);
  const seen = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (!pattern.test(texts.stdout + texts.stderr)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      void ended.then(() => reject(new Error(`ended without ${pattern}: ${texts.stdout}${texts.stderr}`)));
    });
  return { child, seen, ended, output: () => texts.stdout + texts.stderr };
}

export async function rtcProcess(argv: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  return startRtc(argv, { stdin: '', ...options }).ended;
}
