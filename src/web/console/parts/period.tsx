const PERIODS = [
  { name: 'Last hour', ms: 3_600_000 },
  { name: 'Last 24 hours', ms: 86_400_000 },
  { name: 'Last 7 days', ms: 7 * 86_400_000 },
  { name: 'Last 30 days', ms: 30 * 86_400_000 },
] as const;

export const DAY_MS = 86_400_000;

type Props = { readonly value: number; readonly onChange: (ms: number) => void };

/** Chooses the period of plots and counts. */
export function PeriodSelect({ value, onChange }: Props) {
  return (
    <select aria-label="Period" value={value} onChange={(event) => onChange(Number(event.target.value))}>
      {PERIODS.map(({ name, ms }) => (
        <option key={ms} value={ms}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The begin of a period that ends now, ISO 8601. */
export function findBegin(periodMs: number): string {
  return new Date(Date.now() - periodMs).toISOString();
}
