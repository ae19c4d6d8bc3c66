import { startRtc } from '../../test/cli/support/process.ts';
import { atMost, type Figures } from '../figures.ts';
import { lookEvery } from './poll.ts';
import { readPeak } from './process-figures.ts';

/** Exit codes that the documentation gives to what is not as a command expects. */
const EXIT_CODES: readonly (number | null)[] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const STACK = /^ {4}at |TypeError|RangeError|heap out of memory/m;
const STUCK_MS = 60_000;
const SAMPLE_MS = 50;
/** The command writes as it does to a terminal: with control characters made visible. */
const TERMINAL = 'data:text/javascript,process.stdout.isTTY=true;process.stderr.isTTY=true';

export type CommandRun = {
  readonly code: number | null;
  readonly output: string;
  readonly seconds: number;
  readonly highestMb: number;
  /** Whether the command was killed because it did not end by itself. */
  readonly isStuck: boolean;
};

/** Whether the command ended by itself, but as no documented exit code says. */
export function hasCrashed({ code, output, isStuck }: CommandRun): boolean {
  return !isStuck && (!EXIT_CODES.includes(code) || STACK.test(output));
}

type CommandLimits = { readonly seconds: number; readonly memoryMb: number };

/** The claims about the time and the memory of commands. */
export function costFigures(runs: readonly CommandRun[], { seconds, memoryMb }: CommandLimits): Figures {
  const highest = (read: (run: CommandRun) => number): number =>
    Math.round(Math.max(...runs.map(read)) * 10) / 10;
  const [longest, largest] = [highest((run) => run.seconds), highest((run) => run.highestMb)];
  return [
    atMost({ name: 'longest command', measured: longest, bound: seconds, unit: ' s' }),
    atMost({ name: 'highest memory of a command', measured: largest, bound: memoryMb, unit: ' MB' }),
  ];
}

type CommandOptions = {
  readonly environment: Readonly<Record<string, string>>;
  /** The working directory. */
  readonly folder: string;
};

/** Runs the built command line as a process of its own, and watches its memory. */
export async function runCommand(
  argv: readonly string[],
  { environment, folder }: CommandOptions,
): Promise<CommandRun> {
  const startedAt = performance.now();
  const { child, ended, output } = startRtc(argv, {
    nodeArguments: ['--import', TERMINAL],
    cwd: folder,
    stdin: '',
    env: { NO_COLOR: '1', CI: '1', ...environment },
  });
  let highestMb = 0;
  const sampler = lookEvery(SAMPLE_MS, async () => {
    const peakMb = await readPeak(child.pid ?? 0);
    highestMb = Math.max(highestMb, peakMb);
  });
  let isStuck = false;
  const limit = setTimeout(() => {
    isStuck = true;
    child.kill('SIGKILL');
  }, STUCK_MS);
  try {
    const { code } = await ended;
    return { code, output: output(), seconds: (performance.now() - startedAt) / 1000, highestMb, isStuck };
  } finally {
    sampler.close();
    clearTimeout(limit);
  }
}
