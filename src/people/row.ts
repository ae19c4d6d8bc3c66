/** A value of a cell in a spreadsheet. */
export type CellValue = string | number | boolean | Date | null;

/** A quote without an end within a megabyte; a quote without an end in the rest; a quote in the middle of a cell. */
export type RowProblem = 'no-end' | 'quote-not-closed' | 'quote-misplaced';

/** A row of a table. */
export type Row = {
  readonly cells: readonly string[];
  /** Line in which the row begins, from 1. A quoted cell may contain line ends. */
  readonly line: number;
  /** The row as it was written, for the file of rejected rows. */
  readonly raw: string;
  /** Why the row could not be read. It then has no cells. */
  readonly problem?: RowProblem;
  /** The cells with their types, from a spreadsheet. */
  readonly values?: readonly CellValue[];
};
