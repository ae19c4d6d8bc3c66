export type Period = {
  readonly name: string;
  readonly ms: number;
  /** Value of `--since`. */
  readonly option: string;
};

export const LAST_HOUR: Period = { name: 'Last hour', ms: 3_600_000, option: '1h' };

const PERIODS: readonly Period[] = [
  { name: 'Last 15 minutes', ms: 15 * 60_000, option: '15m' },
  LAST_HOUR,
  { name: 'Last day', ms: 86_400_000, option: '1d' },
  { name: 'Last week', ms: 7 * 86_400_000, option: '7d' },
];

type Props = { readonly value: Period; readonly onChange: (period: Period) => void };

/** Selects how far back a list goes. */
export function PeriodSelect({ value, onChange }: Props) {
  return (
    <select
      aria-label="Period"
      value={value.name}
      onChange={(event) => onChange(PERIODS.find(({ name }) => name === event.target.value) ?? LAST_HOUR)}
    >
      {PERIODS.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
