import { monitorEventLoopDelay } from 'node:perf_hooks';
import { LAG_LINE, LAG_SIGNAL, TIMER_MS } from './steady-load.ts';

/*
 * A preload (`--import`) that measures the event-loop lag of a process. The first signal starts the measurement, and the next
 * one ends it and prints the result.
 */

// Node records the time between two runs of the timer.
const intervals = monitorEventLoopDelay({ resolution: TIMER_MS });
let isMeasuring = false;

process.on(LAG_SIGNAL, () => {
  isMeasuring = !isMeasuring;
  if (isMeasuring) {
    intervals.reset();
    intervals.enable();
    return;
  }
  intervals.disable();
  const lags = [intervals.percentile(50), intervals.percentile(99), intervals.max].map(lagMs);
  process.stderr.write(`${LAG_LINE}${lags.join(' ')}\n`);
});

function lagMs(intervalNs: number): string {
  return Math.max(0, intervalNs / 1e6 - TIMER_MS).toFixed(2);
}
