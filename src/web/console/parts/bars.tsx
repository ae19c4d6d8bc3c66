import type { Tone } from './status.tsx';

const WIDTH = 480;
const HEIGHT = 120;
/** Part of a bar's width that is free on each side of it. */
const GAP = 0.12;
/** Height of the mark of a time without any amount. */
const FOOT = 2;
/** Part of the height that a bar of a trouble has at least: one failure of a thousand must be seen. */
const LEAST_OF_TROUBLE = 0.04;

type Part = { readonly tone: Tone; readonly name: string; readonly value: number };

export type Bar = {
  /** When the bar begins, ISO 8601. */
  readonly startedAt: string;
  /** From the bottom up. */
  readonly parts: readonly Part[];
};

type Props = {
  /** The noun for what is counted, for readers who do not see the bars. */
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly format?: (value: number) => string;
  /** Whether each bar is a whole day or month in UTC; without it, an instant in the time of this browser. */
  readonly dates?: 'day' | 'month';
};

/** Amounts over time as stacked bars, with the largest and both ends written beside them. */
export function Bars({ label, bars, format = (value) => value.toLocaleString(), dates }: Props) {
  const formatter = dates === undefined ? INSTANT : FORMATS[dates];
  const formatInstant = (instant: string): string => formatter.format(new Date(instant));
  const highest = Math.max(1, ...bars.map((bar) => sum(bar.parts)));
  const [first, last] = [bars[0]?.startedAt, bars.at(-1)?.startedAt];
  const width = WIDTH / Math.max(1, bars.length);
  const total = bars.reduce((all, bar) => all + sum(bar.parts), 0);
  return (
    <figure className="bars">
      <Legend bars={bars} format={format} />
      <div className="plot">
        <span className="plot-highest" aria-hidden>
          {total === 0 ? '' : format(highest)}
        </span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${label}: ${format(total)} in all, at most ${format(highest)} at once`}
        >
          {bars.map((bar, index) => (
            <g key={bar.startedAt}>
              <title>{`${formatInstant(bar.startedAt)}: ${describeParts(bar, format)}`}</title>
              <Stack parts={stack(bar.parts, highest)} x={index * width} width={width} />
            </g>
          ))}
        </svg>
      </div>
      <figcaption>
        <span>{first === undefined ? '' : formatInstant(first)}</span>
        <span>{last === undefined ? '' : formatInstant(last)}</span>
      </figcaption>
    </figure>
  );
}

type StackProps = {
  readonly parts: ReturnType<typeof stack>;
  readonly x: number;
  readonly width: number;
};

function Stack({ parts, x, width }: StackProps) {
  const inner = { x: x + width * GAP, width: width * (1 - 2 * GAP) };
  return (
    <>
      <rect x={x} y={0} width={width} height={HEIGHT} className="plot-space" />
      <rect {...inner} y={HEIGHT - FOOT} height={FOOT} className="plot-foot" />
      {parts.map(({ tone, from, to }) => (
        <rect key={tone} {...inner} y={HEIGHT - to} height={to - from} className={`plot-${tone}`} />
      ))}
    </>
  );
}

type LegendProps = Pick<Props, 'bars'> & { readonly format: (value: number) => string };

/** Says what each colour means, with its sum; a plot of one colour has none. */
function Legend({ bars, format }: LegendProps) {
  const parts = bars[0]?.parts ?? [];
  if (parts.length < 2) return null;
  return (
    <p className="legend">
      {parts.toReversed().map(({ tone, name }, index) => (
        <span key={name}>
          <span className={`swatch plot-${tone}`} aria-hidden />
          <b>{format(bars.reduce((all, bar) => all + (bar.parts.toReversed()[index]?.value ?? 0), 0))}</b>{' '}
          {name}
        </span>
      ))}
    </p>
  );
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((all, { value }) => all + value, 0);
}

function stack(parts: readonly Part[], highest: number) {
  let from = 0;
  return parts.flatMap(({ tone, value }) => {
    if (value === 0) return [];
    const share = value / highest;
    const isTrouble = tone === 'bad' || tone === 'warning';
    const height = HEIGHT * (isTrouble ? Math.max(share, LEAST_OF_TROUBLE) : share);
    const begin = from;
    from = Math.min(HEIGHT, from + height);
    return [{ tone, from: begin, to: from }];
  });
}

function describeParts({ parts }: Bar, format: (value: number) => string): string {
  const amounts = parts.filter(({ value }) => value > 0).map(({ name, value }) => `${name} ${format(value)}`);
  return amounts.length === 0 ? 'none' : amounts.join(', ');
}

const INSTANT = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

const FORMATS = {
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
  month: new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' }),
};
