/** Returns the percentile of the values, where 0.5 is the median and 1 is the maximum. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Formats the median, and the lowest and the highest value if there are several. */
export function formatSpread(values: readonly number[], digits = 2): string {
  const format = (share: number): string => percentile(values, share).toFixed(digits);
  return values.length === 1 ? format(0) : `${format(0.5)} [${format(0)} … ${format(1)}]`;
}

/** Resolves to the milliseconds that the work takes, and to its result. */
export async function timed<T>(work: () => Promise<T>): Promise<readonly [ms: number, result: T]> {
  const startedAt = performance.now();
  const result = await work();
  return [performance.now() - startedAt, result];
}
