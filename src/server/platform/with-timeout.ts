/** Returns the result of `work`, or `late` when that takes longer than `timeoutMs`. */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, late: T): Promise<T> {
  const { promise: timeUp, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(late), timeoutMs);
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
