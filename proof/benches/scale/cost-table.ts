import type { Cost, Costs } from './costs.ts';

const INSTANCES = [1, 2, 3] as const;

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
    const measured = INSTANCES.filter((instances) => cost('PostgreSQL', instances) !== undefined);
    const cell = (figureOf: (cost: Cost) => number | null): string =>
      measured.map((instances) => show(cost('PostgreSQL', instances), figureOf)).join(' / ');
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

function show(cost: Cost | undefined, figureOf: (cost: Cost) => number | null): string {
  const figure = cost === undefined ? null : figureOf(cost);
  if (figure === null) return '-';
  if (figure === 0) return '0';
  if (figure >= 100) return Math.round(figure).toLocaleString('en');
  return figure >= 10 ? figure.toFixed(1) : figure.toFixed(2);
}
