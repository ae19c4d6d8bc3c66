import { readFile } from 'node:fs/promises';
import type { SerialSection } from './bench-store.ts';

/** The cost of one operation. Times are in milliseconds; database times are null for SQLite, which has no server. */
export type Cost = {
  readonly database: string;
  readonly instances: number;
  readonly operation: string;
  readonly serviceMs: number;
  readonly databaseMs: number | null;
  readonly statements: number | null;
  readonly roundTrips: number | null;
  readonly bytes: number | null;
};

/** The content of costs.json, which `npm run bench:scale -- --record` writes. */
export type Costs = {
  readonly node: string;
  readonly processor: string;
  readonly load: { readonly before: number; readonly after: number };
  readonly serialSection: SerialSection;
  readonly costs: readonly Cost[];
};

export const RECORDED = new URL('costs.json', import.meta.url);
export const EVENT_ALONE = 'event, one at a time, delivered';
export const EVENT_TOGETHER = 'event, 64 at a time, delivered';

export async function readCosts(): Promise<Costs> {
  return JSON.parse(await readFile(RECORDED, 'utf8')) as Costs;
}
