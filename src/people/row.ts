/** A value as a spreadsheet has it. */
export type CellValue = string | number | boolean | Date | null;

/** A quote without an end within a megabyte; one without an end in the rest; one in the midst of a cell. */
export type RowProblem = 'no-end' | 'quote-not-closed' | 'quote-misplaced';

/** A row of a table. */
export type Row = {
  readonly cells: readonly string[];
  /** Where the row begins, from 1; a quoted cell may hold line ends. */
  readonly line: number;
  /** The row as it was written, for the file of rejects. */
  readonly raw: string;
  /** Why the row could not be read; it then has no cells. */
  readonly problem?: RowProblem;
  /** The cells with their types, from a spreadsheet. */
  readonly values?: readonly CellValue[];
};
