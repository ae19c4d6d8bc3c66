/**
 * The database as a capability sees it: its stores, and transactions on them. `Stores` names only the stores that the
 * capability uses, so that a use case can be read, and tested, without the others.
 */
export type UnitOfWork<Stores> = Stores & {
  /**
   * Runs `work` in one transaction, on stores of its own, and resolves to its value. An error that `work` throws rolls
   * the transaction back and is thrown on. `work` awaits nothing but these stores, since others may be waiting for the
   * end of the transaction; calling the outer stores inside would never end. A nested transaction rolls back alone.
   */
  transaction<T>(work: (stores: UnitOfWork<Stores>) => Promise<T>): Promise<T>;
};
