/** Work that continues after its response. Closing waits until it has ended. */
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
