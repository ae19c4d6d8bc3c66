import type { Figure } from './part.ts';
import type { Result } from './run-part.ts';

const HEAD = ['part', 'figure', 'measured', 'spread', 'claimed', 'holds'];

/** One table of all results, for a terminal. */
export function printTable(results: readonly Result[]): void {
  const rows = [HEAD, ...tableRows(results)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
  for (const { part, machine, node, versions, commit, endedAt, seconds, load } of results) {
    const others = Object.entries(versions ?? {}).map(([name, version]) => `, ${name} ${version}`);
    console.log(
      `${part}: ${endedAt}, ${seconds} s, commit ${commit}, Node ${node}${others.join('')}; ` +
        `${machine}; load ${load.join(' to ')}`,
    );
  }
}

export function tableRows(results: readonly Result[]): readonly (readonly string[])[] {
  return results.flatMap(({ part, figures }) =>
    figures.map((figure) => [
      part,
      figure.name,
      figure.measured,
      figure.spread ?? '',
      figure.bound ?? '',
      verdict(figure),
    ]),
  );
}

function verdict({ holds }: Figure): string {
  if (holds === undefined) return '';
  return holds ? 'yes' : 'NO';
}
