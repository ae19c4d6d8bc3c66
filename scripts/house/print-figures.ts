/** A line of the table. */
export type Figure = {
  readonly what: string;
  readonly measured: number;
  /** The goal: at most this value, or at least it. */
  readonly atMost?: number;
  readonly atLeast?: number;
  /** How it was measured, in a few words. */
  readonly method: string;
};

export function printFigures(figures: readonly Figure[]): void {
  const rows = figures.map(({ what, measured, atMost, atLeast, method }) => {
    const isKept = measured <= (atMost ?? Infinity) && measured >= (atLeast ?? -Infinity);
    const bound = atMost === undefined ? `${atLeast} or more` : `${atMost} or less`;
    return [what, String(measured), bound, isKept ? 'kept' : 'NOT KEPT', method];
  });
  const table = [['figure', 'measured', 'to reach', '', 'method'], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}
