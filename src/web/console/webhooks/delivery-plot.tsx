import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Delivery } from '../../../contract/deliveries.ts';

const HEIGHT_PX = 150;
const BARS = 48;
/** Minimum period; a shorter one would show single seconds. */
const SHORTEST_MS = 5 * 60_000;

type Props = { readonly deliveries: readonly Delivery[] };

type Bars = {
  /** Start of each bar in Unix seconds. */
  readonly times: number[];
  readonly delivered: number[];
  readonly failed: number[];
  readonly waiting: number[];
};

/** Deliveries by the time of their event and by their outcome, as stacked bars. */
export function DeliveryPlot({ deliveries }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const bars = useMemo(() => countBars(deliveries), [deliveries]);
  useEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    const scheme = window.matchMedia('(prefers-color-scheme: light)');
    let plot = draw(element, bars);
    const redraw = (): void => {
      plot.destroy();
      plot = draw(element, bars);
    };
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resized.observe(element);
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      resized.disconnect();
      plot.destroy();
    };
  }, [bars]);
  return <div className="plot" ref={container} aria-hidden />;
}

function countBars(deliveries: readonly Delivery[]): Bars {
  const times = deliveries.map(({ createdAt }) => Date.parse(createdAt));
  const until = Date.now();
  const since = Math.min(until - SHORTEST_MS, ...times);
  const widthMs = (until - since) / BARS;
  const count = (states: readonly Delivery['status'][]): number[] => {
    const counts = new Array<number>(BARS).fill(0);
    deliveries.forEach(({ status }, index) => {
      const bar = Math.min(BARS - 1, Math.floor(((times[index] ?? since) - since) / widthMs));
      if (states.includes(status)) counts[bar] = (counts[bar] ?? 0) + 1;
    });
    return counts;
  };
  return {
    times: Array.from({ length: BARS }, (_, bar) => (since + bar * widthMs) / 1000),
    delivered: count(['delivered']),
    failed: count(['failed', 'cancelled']),
    waiting: count(['pending']),
  };
}

function describeTime(seconds: number): string {
  const instant = new Date(seconds * 1000);
  const format = instant.getSeconds() === 0 ? TO_THE_MINUTE : TO_THE_SECOND;
  return instant.toLocaleTimeString(undefined, format);
}

const TO_THE_MINUTE = { hour: '2-digit', minute: '2-digit', hour12: false } as const;
const TO_THE_SECOND = { ...TO_THE_MINUTE, second: '2-digit' } as const;

/** The bars overlap: the longest, of all deliveries, is drawn first. */
function draw(element: HTMLElement, { times, delivered, failed, waiting }: Bars): uPlot {
  const colour = (name: string): string => getComputedStyle(element).getPropertyValue(name).trim();
  const upToFailed = delivered.map((count, bar) => count + (failed[bar] ?? 0));
  const all = upToFailed.map((count, bar) => count + (waiting[bar] ?? 0));
  const paths = uPlot.paths.bars?.({ size: [0.8, 40], align: 1 });
  const series = (name: string, fill: string): uPlot.Series => ({
    label: name,
    fill,
    width: 0,
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
  });
  const axis: uPlot.Axis = {
    stroke: colour('--faint'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 8, 0, 0],
      scales: { y: { range: (_, __, most) => [0, Math.max(1, most)] } },
      axes: [
        { ...axis, grid: { show: false }, values: (_, times) => times.map(describeTime) },
        { ...axis, size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] },
      ],
      series: [
        {},
        series('waiting', colour('--warning')),
        series('failed', colour('--bad')),
        series('delivered', colour('--good')),
      ],
    },
    [times, all, upToFailed, delivered],
    element,
  );
}
