/** A chart as SVG: lines on logarithmic axes, or bars. It is legible in light and dark mode. */

export type Line = {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** A dashed line leads towards this point, and ends before it, because the value there has no meaning. */
  readonly end?: readonly [x: number, y: number] | undefined;
};

export type Axis = { readonly title: string; readonly from: number; readonly to: number };

export type LineChart = {
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

export function lineChart({ title, x, y, lines }: LineChart): string {
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

export type BarChart = {
  readonly title: string;
  readonly unit: string;
  /** Each group has one value per series. */
  readonly groups: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly series: readonly string[];
};

export function barChart({ title, unit, groups, series }: BarChart): string {
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
