/**
 * A capability's view of the database: its stores, and transactions on them. `Stores` names only the stores that the
 * capability uses, so that its use cases can be read and tested without the others.
 */
export type UnitOfWork<Stores> = Stores & {
  /**
   * Runs `work` in one transaction and returns its value. If `work` throws, the transaction is rolled back and the error is
   * rethrown. `work` must use the given stores: a call of the outer stores inside never ends. It must not await anything
   * else, because others may wait for the transaction. A nested transaction is rolled back alone.
   */
  transaction<T>(work: (stores: UnitOfWork<Stores>) => Promise<T>): Promise<T>;
};
