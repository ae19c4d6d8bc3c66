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

const MEASURED_INSTANCES = [1, 2, 3] as const;

const HEAD = [
  '| operation | SQLite: service, ms | service, ms | PostgreSQL, ms | statements | round trips | bytes |',
  '|---|---|---|---|---|---|---|',
];

/** Returns the table of all operations in Markdown. A cell has a figure for each number of instances on PostgreSQL. */
export function costTable({ costs }: Costs): string {
  const names = [...new Set(costs.map(({ operation }) => operation))];
  const rows = names.map((operation) => {
    const cost = (database: string, instances: number): Cost | undefined =>
      costs.find(
        (one) => one.operation === operation && one.database === database && one.instances === instances,
      );
    const measured = MEASURED_INSTANCES.filter((instances) => cost('PostgreSQL', instances) !== undefined);
    const cell = (readFigure: (cost: Cost) => number | null): string =>
      measured.map((instances) => show(cost('PostgreSQL', instances), readFigure)).join(' / ');
    const cells = [
      show(cost('SQLite', 1), ({ serviceMs }) => serviceMs),
      cell(({ serviceMs }) => serviceMs),
      cell(({ databaseMs }) => databaseMs),
      cell(({ statements }) => statements),
      cell(({ roundTrips }) => roundTrips),
      cell(({ bytes }) => bytes),
    ];
    return `| ${[operation, ...cells].join(' | ')} |`;
  });
  return [...HEAD, ...rows].join('\n');
}

function show(cost: Cost | undefined, readFigure: (cost: Cost) => number | null): string {
  const figure = cost === undefined ? null : readFigure(cost);
  if (figure === null) return '-';
  if (figure === 0) return '0';
  if (figure >= 100) return Math.round(figure).toLocaleString('en');
  return figure >= 10 ? figure.toFixed(1) : figure.toFixed(2);
}
