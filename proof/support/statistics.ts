/** Returns the percentile of the values, where 0.5 is the median and 1 is the maximum. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Rounds to hundredths. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function sum(values: readonly number[]): number {
  return values.reduce((one, other) => one + other, 0);
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}
