import { barChart, lineChart } from './chart.ts';
import { type Costs, EVENT_ALONE, EVENT_TOGETHER } from './costs.ts';
import { modelOf, type Outcome, simulate } from './simulate.ts';

const INSTANCES = [1, 10, 100] as const;
const RATES = [100, 200, 500, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 14_000, 20_000] as const;
const SLOWEST_MS = 10_000;

export function simulations(costs: Costs): readonly Outcome[] {
  const model = modelOf(costs);
  return INSTANCES.flatMap((instances) => RATES.map((rate) => simulate(model, instances, rate)));
}

/** Returns the pictures of docs/scaling.md by their file names. */
export function pictures(costs: Costs, outcomes: readonly Outcome[]): Readonly<Record<string, string>> {
  const lines = INSTANCES.map((instances) => {
    const all = outcomes.filter((outcome) => outcome.instances === instances);
    const overloaded = all.findIndex(isOverloaded);
    const stable = overloaded === -1 ? all : all.slice(0, overloaded);
    const end = all[overloaded];
    return {
      name: instances === 1 ? '1 instance' : `${instances} instances`,
      points: stable.map(pointOf),
      end: end && pointOf(end),
    };
  });
  return {
    'scaling-latency.svg': lineChart({
      title: 'Acknowledgement of an event, p99 (simulated)',
      x: { title: 'events per second', from: 100, to: 20_000 },
      y: { title: 'milliseconds', from: 1, to: SLOWEST_MS },
      lines,
    }),
    'scaling-statements.svg': barChart({
      title: 'Statements for each event, with its delivery (measured)',
      unit: 'statements',
      series: ['one at a time', '64 at a time'],
      groups: [1, 2, 3].map((instances) => ({
        name: instances === 1 ? '1 instance' : `${instances} instances`,
        values: [EVENT_ALONE, EVENT_TOGETHER].map((operation) => statementsOf(costs, instances, operation)),
      })),
    }),
  };
}

function pointOf({ offeredPerSecond, p99Ms }: Outcome): readonly [number, number] {
  return [offeredPerSecond, p99Ms];
}

/**
 * Whether more events arrive than are stored, so that the p99 grows with the simulated time. A few events are always on their
 * way at the end.
 */
function isOverloaded({ offeredPerSecond, storedPerSecond }: Outcome): boolean {
  return storedPerSecond < 0.85 * offeredPerSecond;
}

function statementsOf({ costs }: Costs, instances: number, operation: string): number {
  const found = costs.find(
    (cost) => cost.database === 'PostgreSQL' && cost.instances === instances && cost.operation === operation,
  );
  return found?.statements ?? 0;
}
