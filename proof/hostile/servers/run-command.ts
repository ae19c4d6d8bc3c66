import { readFile } from 'node:fs/promises';
import { startRtc } from '../../../test/cli/support/process.ts';

export type CommandRun = {
  readonly code: number | null;
  readonly output: string;
  readonly seconds: number;
  readonly highestMb: number;
  /** Whether the command was killed because it did not end by itself. */
  readonly isStuck: boolean;
};

export type CommandOptions = {
  readonly url: string;
  readonly apiSecret: string;
  /** The working directory. */
  readonly folder: string;
  readonly home: string;
};

export const REQUEST_TIMEOUT_SECONDS = 3;
const STUCK_MS = 60_000;
const SAMPLE_MS = 50;
/** The command writes as it does to a terminal: with control characters made visible. */
const TERMINAL = 'data:text/javascript,process.stdout.isTTY=true;process.stderr.isTTY=true';

/** Runs the built command line as a process of its own, and watches its memory. */
export async function runCommand(
  argv: readonly string[],
  { url, apiSecret, folder, home }: CommandOptions,
): Promise<CommandRun> {
  const startedAt = performance.now();
  const words = [...argv, '--request-timeout', `${REQUEST_TIMEOUT_SECONDS}s`];
  const { child, ended, output } = startRtc(words, {
    nodeArguments: ['--import', TERMINAL],
    cwd: folder,
    stdin: '',
    env: {
      ...{ HOME: home, NO_COLOR: '1', CI: '1' },
      ...{ RTC_URL: url, RTC_API_KEY: 'hostile-key', RTC_API_SECRET: apiSecret },
    },
  });
  let highestMb = 0;
  const sampler = setInterval(() => {
    void peakOf(child.pid ?? 0).then((peak) => {
      highestMb = Math.max(highestMb, peak);
    });
  }, SAMPLE_MS);
  let isStuck = false;
  const limit = setTimeout(() => {
    isStuck = true;
    child.kill('SIGKILL');
  }, STUCK_MS);
  try {
    const { code } = await ended;
    return { code, output: output(), seconds: (performance.now() - startedAt) / 1000, highestMb, isStuck };
  } finally {
    clearInterval(sampler);
    clearTimeout(limit);
  }
}

/** The kernel keeps the highest value, so that no peak between two samples is missed. */
async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
