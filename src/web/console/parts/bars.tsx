import type { Tone } from './status.tsx';

const WIDTH = 480;
const HEIGHT = 120;
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
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${format(total)} in all, at most ${format(highest)} at once`}
      >
        {bars.map((bar, index) => (
          <g key={bar.startedAt}>
            <title>{`${formatInstant(bar.startedAt)}: ${describeParts(bar, format)}`}</title>
            <rect x={index * width} y={0} width={width} height={HEIGHT} className="plot-space" />
            {stack(bar.parts, highest).map(({ tone, from, to }) => (
              <rect
                key={tone}
                className={`plot-${tone}`}
                x={index * width + width * 0.1}
                width={width * 0.8}
                y={HEIGHT - to}
                height={to - from}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{first === undefined ? '' : formatInstant(first)}</span>
        <span>at most {format(highest)}</span>
        <span>{last === undefined ? '' : formatInstant(last)}</span>
      </figcaption>
    </figure>
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
