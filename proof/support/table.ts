import { figuresWithSpread, type Landed } from '../landed.ts';
import type { Figure } from '../part.ts';

export type Table = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** Prints one table of all results on the terminal. */
export function printTable(results: readonly Landed[]): void {
  const { head, rows } = withoutEmptyColumns({
    head: ['part', ...HEAD],
    rows: results.flatMap((result) => rowsOf(result).map((row) => [result.part, ...row])),
  });
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join('  ').trimEnd());
  }
  for (const { part, machine, node, versions, commit, endedAt, seconds, load } of results) {
    const others = Object.entries(versions ?? {}).map(([name, version]) => `, ${name} ${version}`);
    console.log(
      `${part}: ${endedAt}, ${seconds} s, commit ${commit}, Node ${node}${others.join('')}; ` +
        `${machine}; load ${load.join(' to ')}`,
    );
  }
}

/** Returns the table of one part. A column is left out if it would be empty. */
export function tableOf(result: Landed): Table {
  return withoutEmptyColumns({ head: HEAD, rows: rowsOf(result) });
}

const HEAD = ['figure', 'measured', 'spread', 'claimed', 'holds'];

function rowsOf(result: Landed): readonly (readonly string[])[] {
  return figuresWithSpread(result).map((figure) => [
    figure.name,
    figure.measured,
    figure.spread ?? '',
    figure.bound ?? '',
    verdict(figure),
  ]);
}

function verdict({ holds }: Figure): string {
  if (holds === undefined) return '';
  return holds ? 'yes' : 'NO';
}

function withoutEmptyColumns({ head, rows }: Table): Table {
  const isUsed = head.map((_, column) => rows.some((row) => row[column] !== ''));
  const used = (cells: readonly string[]): readonly string[] => cells.filter((_, column) => isUsed[column]);
  return { head: used(head), rows: rows.map(used) };
}
