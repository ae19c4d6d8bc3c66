import type { FleetInstance } from '../../test/server/webhooks/support/instance.ts';
import { pollEvery } from '../support/poll.ts';

/** Interval of the timer whose delays are the lag. */
export const TIMER_MS = 10;
export const LAG_SIGNAL = 'SIGUSR2';
/** Prefix of the line that the preload prints. The median, the 99th percentile and the maximum in milliseconds follow. */
export const LAG_LINE = 'event-loop lag in ms: ';

/** How late the timer ran in the process of the service. */
export type EventLoopLag = { readonly medianMs: number; readonly p99Ms: number; readonly maximumMs: number };

/** Environment of an instance whose event-loop lag can be measured. */
export const LAG_PRELOAD = {
  NODE_OPTIONS: `--import ${new URL('event-loop-preload.ts', import.meta.url)}`,
};

const untilPrinted = pollEvery({ everyMs: 20, withinMs: 10_000 });

/** Measures the event-loop lag of an instance with {@link LAG_PRELOAD} while `work` runs. Works once for an instance. */
export async function withEventLoopLag<Result>(
  { pid, output }: FleetInstance,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly lag: EventLoopLag }> {
  process.kill(pid, LAG_SIGNAL);
  const result = await work();
  process.kill(pid, LAG_SIGNAL);
  return { result, lag: await untilPrinted(async () => lagIn(output())) };
}

function lagIn(output: string): EventLoopLag | undefined {
  const line = output.split('\n').find((one) => one.startsWith(LAG_LINE));
  // The last number is complete if a line end follows it.
  if (line === undefined || !output.includes(`${line}\n`)) return undefined;
  const [medianMs = Number.NaN, p99Ms = Number.NaN, maximumMs = Number.NaN] = line
    .slice(LAG_LINE.length)
    .split(' ')
    .map(Number);
  return { medianMs, p99Ms, maximumMs };
}
