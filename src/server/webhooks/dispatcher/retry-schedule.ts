/** After a failed attempt, in milliseconds: the specification's 5 s, 30 s and 5 min. After the third retry it has failed. */
const RETRY_DELAYS_MS = [5_000, 30_000, 300_000] as const;

/** When to try again after attempt `roundAttempts` (from 1) of a round failed; undefined: not again. */
export function nextAttemptAt(roundAttempts: number, failedAt: number): number | undefined {
  const delay = RETRY_DELAYS_MS[roundAttempts - 1];
  return delay === undefined ? undefined : failedAt + delay;
}
