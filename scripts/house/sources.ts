import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';

export const ROOT = join(import.meta.dirname, '..', '..');

export type Source = {
  /** Path relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly program: ReturnType<typeof parseSync>['program'];
};

/** Reads the TypeScript files below a folder, without the generated data of the fiscal library. */
export function readSources(folder: string): readonly Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((path) => path.endsWith('.ts') && !path.startsWith('src/fiscal/data/'))
    .toSorted()
    .map(readSource);
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, lines: text.trimEnd().split('\n').length, program: parseSync(path, text).program };
}

export function sumLines(sources: readonly Source[]): number {
  return sources.reduce((sum, { lines }) => sum + lines, 0);
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
