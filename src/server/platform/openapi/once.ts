/**
 * Runs `work` at the first call and returns the same result from then on. A failure is not kept: the next call tries again.
 */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
