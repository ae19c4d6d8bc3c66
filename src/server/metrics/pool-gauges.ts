import { Gauge, type Registry } from 'prom-client';
import type { PoolState } from '../platform/storage/engine.ts';

/** Creates the gauges of a connection pool. They have no series until a pool is watched, because SQLite has none. */
export function createPoolGauges(registry: Registry) {
  let read: (() => PoolState) | undefined;
  const registers = [registry];
  new Gauge({
    name: 'rtc_database_pool_connections',
    help: 'Connections of this instance to PostgreSQL by state (used, idle); absent on SQLite',
    labelNames: ['state'],
    registers,
    collect() {
      const state = read?.();
      if (state === undefined) return;
      this.set({ state: 'used' }, state.used);
      this.set({ state: 'idle' }, state.idle);
    },
  });
  new Gauge({
    name: 'rtc_database_pool_waiting',
    help: 'Database calls of this instance that wait for a connection to PostgreSQL; 0 on SQLite',
    registers,
    collect() {
      this.set(read?.().waiting ?? 0);
    },
  });
  return {
    watch: (state: () => PoolState): void => {
      read = state;
    },
  };
}
