import { type Cost, type Costs, EVENT_ALONE, EVENT_TOGETHER } from './costs.ts';
import { fitModel, type Outcome, simulate } from './simulate.ts';

const INSTANCES = [1, 10, 100] as const;

const RATES = [100, 200, 500, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 14_000, 20_000] as const;

const SLOWEST_MS = 10_000;

export function simulations(costs: Costs): readonly Outcome[] {
  const model = fitModel(costs);
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
      points: stable.map(toPoint),
      end: end && toPoint(end),
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
        values: [EVENT_ALONE, EVENT_TOGETHER].map((operation) =>
          countStatements(costs, instances, operation),
        ),
      })),
    }),
  };
}

function toPoint({ offeredPerSecond, p99Ms }: Outcome): readonly [number, number] {
  return [offeredPerSecond, p99Ms];
}

/**
 * Whether more events arrive than are stored, so that the p99 grows with the simulated time. A few events are always on their
 * way at the end.
 */
function isOverloaded({ offeredPerSecond, storedPerSecond }: Outcome): boolean {
  return storedPerSecond < 0.85 * offeredPerSecond;
}

function countStatements({ costs }: Costs, instances: number, operation: string): number {
  const found = costs.find(
    (cost) => cost.database === 'PostgreSQL' && cost.instances === instances && cost.operation === operation,
  );
  return found?.statements ?? 0;
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

/** A chart as SVG: lines on logarithmic axes, or bars. It is legible in light and dark mode. */

type Line = {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** A dashed line leads towards this point, and ends before it, because the value there has no meaning. */
  readonly end?: readonly [x: number, y: number] | undefined;
};

type Axis = { readonly title: string; readonly from: number; readonly to: number };

type LineChart = {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
};

const WIDTH = 750;

const HEIGHT = 400;

const PLOT = { left: 70, right: 600, top: 50, bottom: 340 } as const;

/** Legible on white and on near-black. */
const COLOURS = ['#3b82f6', '#d97706', '#16a34a', '#db2777'];

function lineChart({ title, x, y, lines }: LineChart): string {
  const across = scale(x, PLOT.left, PLOT.right);
  const up = scale(y, PLOT.bottom, PLOT.top);
  const vertical = decades(x).map((value) => {
    const at = across(value);
    return `<path class="grid" d="M${at} ${PLOT.top}V${PLOT.bottom}"/>${text(at, PLOT.bottom + 18, label(value), 'middle')}`;
  });
  const horizontal = decades(y).map((value) => {
    const at = up(value);
    return `<path class="grid" d="M${PLOT.left} ${at}H${PLOT.right}"/>${text(PLOT.left - 8, at + 4, label(value), 'end')}`;
  });
  const place = ([at, value]: readonly [number, number]) => [across(at), up(value)] as const;
  const drawn = lines.map(({ name, points, end }, index) => {
    const colour = COLOURS[index % COLOURS.length] ?? '';
    const places = points.map(place);
    const path = places.map(([left, top], at) => `${at === 0 ? 'M' : 'L'}${left} ${top}`).join('');
    const dots = places.map(([left, top]) => `<circle cx="${left}" cy="${top}" r="3" fill="${colour}"/>`);
    const solid = `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`;
    const legend =
      `<rect x="${PLOT.right + 12}" y="${PLOT.top + 22 * index}" width="12" height="12" fill="${colour}"/>` +
      text(PLOT.right + 30, PLOT.top + 22 * index + 11, name, 'start');
    const line = solid + dots.join('') + legend;
    if (end === undefined) return line;
    const [lastLeft, lastTop] = places.at(-1) ?? [0, 0];
    const [left, top] = place(end);
    return (
      `<path d="M${lastLeft} ${lastTop}L${left} ${top}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="4 4"/>` +
      `${line}<circle cx="${left}" cy="${top}" r="5" class="paper" stroke="${colour}" stroke-width="2"/>`
    );
  });
  return svg(title, [...vertical, ...horizontal, ...drawn, axisTitles(x.title, y.title)]);
}

type BarChart = {
  readonly title: string;
  readonly unit: string;
  /** Each group has one value per series. */
  readonly groups: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly series: readonly string[];
};

function barChart({ title, unit, groups, series }: BarChart): string {
  const top = Math.max(...groups.flatMap(({ values }) => values)) * 1.1;
  const width = (PLOT.right - PLOT.left) / groups.length;
  const bar = (width * 0.7) / series.length;
  const drawn = groups.flatMap(({ name, values }, group) => {
    const left = PLOT.left + group * width + width * 0.15;
    const bars = values.map((value, index) => {
      const height = round(((PLOT.bottom - PLOT.top) * value) / top);
      const from = round(left + index * bar);
      return (
        `<rect x="${from}" y="${round(PLOT.bottom - height)}" width="${round(bar - 4)}" height="${height}" fill="${COLOURS[index]}"/>` +
        text(round(from + bar / 2 - 2), round(PLOT.bottom - height - 5), exact(value), 'middle')
      );
    });
    return [...bars, text(round(left + width * 0.35), PLOT.bottom + 18, name, 'middle')];
  });
  const legend = series.map(
    (name, index) =>
      `<rect x="${PLOT.right + 12}" y="${PLOT.top + 22 * index}" width="12" height="12" fill="${COLOURS[index]}"/>` +
      text(PLOT.right + 30, PLOT.top + 22 * index + 11, name, 'start'),
  );
  const base = `<path class="grid" d="M${PLOT.left} ${PLOT.bottom}H${PLOT.right}"/>`;
  return svg(title, [base, ...drawn, ...legend, axisTitles('', unit)]);
}

function scale({ from, to }: Axis, low: number, high: number): (value: number) => number {
  const span = Math.log(to / from);
  return (value) => round(low + ((high - low) * Math.log(Math.max(value, from) / from)) / span);
}

/** Returns 1, 2 and 5 times each power of ten on the axis. */
function decades({ from, to }: Axis): readonly number[] {
  const powers = Array.from({ length: 9 }, (_, index) => 10 ** (index - 2));
  return powers
    .flatMap((power) => [1, 2, 5].map((step) => step * power))
    .filter((value) => value >= from && value <= to);
}

function label(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)));
}

/** Labels of bars have the digits of the page's table. */
function exact(value: number): string {
  return value.toFixed(value >= 10 ? 1 : 2);
}

function axisTitles(x: string, y: string): string {
  const middle = (PLOT.top + PLOT.bottom) / 2;
  return (
    text((PLOT.left + PLOT.right) / 2, HEIGHT - 18, x, 'middle') +
    `<text x="18" y="${middle}" text-anchor="middle" transform="rotate(-90 18 ${middle})">${y}</text>`
  );
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;
}

function svg(title: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
<style>
  .paper { fill: #ffffff; } text { fill: #1f2937; font: 13px sans-serif; } .title { font-weight: bold; font-size: 15px; }
  .grid { stroke: #d1d5db; fill: none; }
  @media (prefers-color-scheme: dark) { .paper { fill: #0d1117; } text { fill: #e5e7eb; } .grid { stroke: #374151; } }
</style>
<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>
<text class="title" x="${PLOT.left}" y="28">${title}</text>
${parts.join('\n')}
</svg>
`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
