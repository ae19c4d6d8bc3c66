import { dirname } from 'node:path';
import type { Branch } from './branches.ts';

export type FileCoverage = {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly branches: readonly Branch[];
  /** Branches that no process took. */
  readonly untaken: readonly Branch[];
};

const WORST_FILES = 40;
const LISTED_LINES = 12;

/** Describes the coverage by folder, and the files with the most branches that were not taken. */
export function describeCoverage(files: readonly FileCoverage[]): string {
  const folders = Map.groupBy(files, ({ path }) => findFolder(path));
  const rows = [...folders].map(([folder, inside]) => row(folder, inside)).toSorted();
  const worst = files
    .filter(({ untaken }) => untaken.length > 0)
    .toSorted((a, b) => b.untaken.length - a.untaken.length)
    .slice(0, WORST_FILES);
  return [
    `${'folder'.padEnd(44)} branches    taken`,
    ...rows,
    row('all', files),
    '',
    `The files with the most branches that were not taken, and the lines of these:`,
    ...worst.map((file) => `${row(file.path, [file])}   ${listLines(file)}`),
  ].join('\n');
}

/** Returns the folder of a capability for files of the server, and the folder in src for other files. */
function findFolder(path: string): string {
  const parts = dirname(path).split('/');
  return parts.slice(0, parts[1] === 'server' ? 3 : 2).join('/');
}

function row(name: string, files: readonly FileCoverage[]): string {
  const all = files.reduce((sum, { branches }) => sum + branches.length, 0);
  const untaken = files.reduce((sum, file) => sum + file.untaken.length, 0);
  const share = all === 0 ? 100 : (100 * (all - untaken)) / all;
  return `${name.padEnd(44)} ${String(all).padStart(8)} ${share.toFixed(1).padStart(6)} %`;
}

function listLines({ untaken }: FileCoverage): string {
  const lines = [...new Set(untaken.map(({ line }) => line))];
  const rest = lines.length - LISTED_LINES;
  return `${lines.slice(0, LISTED_LINES).join(' ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
