import { Download } from 'lucide-react';
import { type ComponentProps, useMemo } from 'react';
import { csvLine, withoutFormula } from '../../../people/csv-rows.ts';
import { useAddress } from './use-address.ts';
import { useDebounced } from './use-pages.ts';

/** The cells of a row by the heads of a table. */
export type Cells<Row> = Readonly<Record<string, (row: Row) => string | number | null | undefined>>;

type Props<Row> = {
  /** The noun for the rows of the list, such as `events`; also the name of the file. */
  readonly what: string;
  /** The rows that are shown. */
  readonly rows: readonly Row[];
  readonly cells: Cells<Row>;
};

/** A field that finds a text in the rows of a list, and a button that saves the rows that are shown as CSV. */
export function FindAndSave<Row>({ what, rows, cells }: Props<Row>) {
  return (
    <>
      <SearchFilter name="text" placeholder="Any text" label={`Only ${what} with this text`} />
      <button type="button" disabled={rows.length === 0} onClick={() => saveCsv(what, rows, cells)}>
        <Download aria-hidden /> Save as CSV
      </button>
    </>
  );
}

/** Filters are in the address, by their names. */
type FilterProps = { readonly name: string; readonly label: string };

type SearchProps = FilterProps & Pick<ComponentProps<'input'>, 'placeholder' | 'maxLength' | 'list'>;

/** Limits a list to what a text is typed for. */
export function SearchFilter({ name, label, ...rest }: SearchProps) {
  const { read, change } = useAddress();
  return (
    <input
      type="search"
      aria-label={label}
      value={read(name)}
      onChange={({ target }) => change({ [name]: target.value })}
      {...rest}
    />
  );
}

/** Limits a list to what belongs to one room; `what` is the noun for its rows, such as `events`. */
export function RoomFilter({ what }: { readonly what: string }) {
  return <SearchFilter name="room" placeholder="Name of a room" label={`Only ${what} of this room`} />;
}

type ChoiceProps = FilterProps & {
  /** Shown where none is chosen. */
  readonly all: string;
  readonly choices: readonly string[];
  readonly isDisabled?: boolean;
};

/** Limits a list to what has one of a few values. */
export function ChoiceFilter({ name, label, all, choices, isDisabled = false }: ChoiceProps) {
  const { read, change } = useAddress();
  return (
    <select
      disabled={isDisabled}
      aria-label={label}
      value={choices.find((choice) => choice === read(name)) ?? ''}
      onChange={({ target }) => change({ [name]: target.value })}
    >
      <option value="">{all}</option>
      {choices.map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </select>
  );
}

/** Returns the rows that have the text in any of their fields. */
export function useRowsWith<Row extends object>(rows: readonly Row[], text: string): readonly Row[] {
  const wanted = useDebounced(text.trim().toLowerCase());
  return useMemo(
    () => (wanted === '' ? rows : rows.filter((row) => JSON.stringify(row).toLowerCase().includes(wanted))),
    [rows, wanted],
  );
}

/** Strangers choose names, which no spreadsheet shall take for a formula. */
export function saveCsv<Row>(what: string, rows: readonly Row[], cells: Cells<Row>): void {
  const lines = rows.map((row) =>
    csvLine(
      Object.values(cells).map((read) => withoutFormula(String(read(row) ?? ''))),
      ',',
    ),
  );
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([csvLine(Object.keys(cells), ','), ...lines], { type: 'text/csv' }),
  );
  link.download = `${what}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
