import { median } from '../../support/statistics.ts';
import type { Work } from './count-work.ts';

/**
 * The minimum of several rounds, because background work only adds. `spread` is how far the median was above the minimum,
 * as a share of it.
 */
export type RecordedWork = Work & { readonly spread: number };

export type RecordedResult = Readonly<Record<string, RecordedWork>>;

/** A change of the code may cost this much more. Rounds differ by less than a thousandth. */
const LEAST_SPREAD = 0.02;

export function summarize(rounds: readonly Work[]): RecordedWork {
  const least = (what: keyof Work): number => Math.min(...rounds.map((round) => round[what]));
  const blocks = least('blocks');
  const middle = median(rounds.map((round) => round.blocks));
  return {
    blocks,
    statements: least('statements'),
    mediaCalls: least('mediaCalls'),
    spread: blocks === 0 ? 0 : Math.round((1000 * (middle - blocks)) / blocks) / 1000,
  };
}

/** Returns the counts that are higher than before, by more than rounds differ from each other. */
export function findFaults(
  name: string,
  now: RecordedWork,
  before: RecordedWork | undefined,
): readonly string[] {
  if (before === undefined) return [`${name}: has no recorded figure`];
  const room = Math.max(LEAST_SPREAD, 2 * before.spread);
  return (['blocks', 'statements', 'mediaCalls'] as const).flatMap((what) => {
    // Half a statement is one more in every second operation.
    const most = before[what] * (1 + room) + (what === 'blocks' ? 1 : 0.5);
    return now[what] <= most ? [] : [`${name}: ${now[what]} ${what}, ${before[what]} when it was recorded`];
  });
}
