/** Work that outlives its request: kept until it is done, so that closing can wait for it. */
export type Background = {
  readonly add: (work: Promise<void>) => void;
  readonly settled: () => Promise<void>;
};

export function createBackground(onFailure: (error: unknown) => void): Background {
  const pending = new Set<Promise<void>>();
  return {
    add: (work) => {
      const tracked = work.catch(onFailure).finally(() => pending.delete(tracked));
      pending.add(tracked);
    },
    settled: async () => {
      await Promise.all(pending);
    },
  };
}
