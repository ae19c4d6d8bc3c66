import { Download } from 'lucide-react';
import { useMemo } from 'react';
import { csvLine, withoutFormula } from '../../../people/csv-rows.ts';
import { useDebounced } from './use-pages.ts';

/** The cells of a row by the heads of a table. */
export type Cells<Row> = Readonly<Record<string, (row: Row) => string | number | null | undefined>>;

type Props<Row> = {
  /** The noun for the rows of the list, such as `events`; also the name of the file. */
  readonly what: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** The rows that are shown. */
  readonly rows: readonly Row[];
  readonly cells: Cells<Row>;
};

/** A field that finds a text in the rows of a list, and a button that saves the rows that are shown as CSV. */
export function FindAndSave<Row>({ what, text, onText, rows, cells }: Props<Row>) {
  return (
    <>
      <input
        type="search"
        placeholder="Any text"
        aria-label={`Only ${what} with this text`}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
      <button type="button" disabled={rows.length === 0} onClick={() => saveCsv(what, rows, cells)}>
        <Download aria-hidden /> Save as CSV
      </button>
    </>
  );
}

type RoomProps = {
  /** The noun for the rows of the list, such as `events`. */
  readonly what: string;
  readonly value: string;
  readonly onChange: (room: string) => void;
};

/** Limits a list to what belongs to one room. */
export function RoomFilter({ what, value, onChange }: RoomProps) {
  return (
    <input
      type="search"
      placeholder="Name of a room"
      aria-label={`Only ${what} of this room`}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

type ChoiceProps<Choice extends string> = {
  readonly label: string;
  /** What is shown where none is chosen. */
  readonly all: string;
  readonly choices: readonly Choice[];
  readonly value: string | undefined;
  readonly onChange: (choice: Choice | undefined) => void;
  readonly isDisabled?: boolean;
};

/** Limits a list to what has one of a few values. */
export function ChoiceFilter<Choice extends string>(props: ChoiceProps<Choice>) {
  const { label, all, choices, value, onChange, isDisabled = false } = props;
  const find = (text: string | undefined) => choices.find((choice) => choice === text);
  return (
    <select
      disabled={isDisabled}
      aria-label={label}
      value={find(value) ?? ''}
      onChange={({ target }) => onChange(find(target.value))}
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
