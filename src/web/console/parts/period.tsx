import { useAddress } from './use-address.ts';

export type Period = {
  readonly name: string;
  readonly ms: number;
};

type Props<P extends Period> = {
  readonly periods: readonly P[];
  readonly value: P;
  readonly onChange: (period: P) => void;
};

/** Selects how far back a list or a plot goes. */
export function PeriodSelect<P extends Period>({ periods, value, onChange }: Props<P>) {
  return (
    <select
      aria-label="Period"
      value={value.name}
      onChange={(event) => onChange(periods.find(({ name }) => name === event.target.value) ?? value)}
    >
      {periods.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

export const DAY_MS = 86_400_000;

const LAST_DAY: Period = { name: 'Last 24 hours', ms: DAY_MS };

/** The periods of plots and counts. */
export const PERIODS: readonly Period[] = [
  { name: 'Last hour', ms: 3_600_000 },
  LAST_DAY,
  { name: 'Last 7 days', ms: 7 * DAY_MS },
  { name: 'Last 30 days', ms: 30 * DAY_MS },
];

/** The period in the address; without one, the last day. */
export function usePeriod() {
  const { read, change } = useAddress();
  const period = PERIODS.find(({ name }) => name === read('period')) ?? LAST_DAY;
  const setPeriod = ({ name }: Period): void => change({ period: name === LAST_DAY.name ? undefined : name });
  return [period, setPeriod] as const;
}

/** The begin of a period that ends now, ISO 8601. */
export function findBegin(periodMs: number): string {
  return new Date(Date.now() - periodMs).toISOString();
}

type DayProps = { readonly name: string; readonly label: string };

/** A day as `2026-01-31` in UTC, in the address. */
export function DayFilter({ name, label }: DayProps) {
  const { read, change } = useAddress();
  return (
    <label className="day-filter">
      <span className="faint">{label}</span>
      <input type="date" value={read(name)} onChange={({ target }) => change({ [name]: target.value })} />
    </label>
  );
}
