import type { Cost, Costs } from './costs.ts';
import { fitModel, type Outcome, simulate } from './simulate.ts';

const INSTANCES = [1, 10, 100] as const;
const RATES = [100, 200, 500, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 14_000, 20_000] as const;

export function simulations(costs: Costs): readonly Outcome[] {
  const model = fitModel(costs);
  return INSTANCES.flatMap((instances) => RATES.map((rate) => simulate(model, instances, rate)));
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
