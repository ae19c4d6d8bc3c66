import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type ImportName, parseSync } from 'oxc-parser';
import type { Part } from './prepare-parts.ts';

/** The module that a test imports if it runs or reads what `npm run build` makes. */
const BUILT = 'test/support/parts/built.ts';

/** The parts that have to be there before a test file can run. */
export interface Needs {
  /** The parts whose fixtures it imports. */
  readonly parts: readonly Part[];
  /** Whether it runs or reads what is built. */
  readonly usesBuild: boolean;
}

/**
 * Returns what a test file imports, directly or through other modules of the project. A test declares its needs by importing,
 * so it cannot forget one.
 */
export async function findNeeds(testFile: string, project: Project): Promise<Needs> {
  const reached = new Set<string>();
  const visited = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (visited.has(file)) return;
    visited.add(file);
    reached.add(relative(project.root, file));
    for (const reference of await readReferences(file)) {
      if (!existsSync(reference.file)) continue;
      for (const name of reference.names) reached.add(`${relative(project.root, reference.file)}#${name}`);
      await visit(reference.file);
    }
  };
  await visit(testFile);
  return {
    parts: project.parts.filter((part) => part.fixtures.some((fixture) => reached.has(fixture))),
    usesBuild: reached.has(BUILT),
  };
}

export interface Project {
  readonly root: string;
  readonly parts: readonly Part[];
}

interface Reference {
  readonly file: string;
  /** The imported names; empty if the whole module is imported. */
  readonly names: readonly string[];
}

/** The references of each file. Many tests import the same modules. */
const known = new Map<string, Promise<readonly Reference[]>>();

function readReferences(file: string): Promise<readonly Reference[]> {
  const reading = known.get(file) ?? readFile(file, 'utf8').then((text) => parseReferences(file, text));
  known.set(file, reading);
  return reading;
}

/** Returns the project's own modules that this one loads at run time. Imports of types only are not included. */
function parseReferences(file: string, text: string): readonly Reference[] {
  const { module } = parseSync(file, text);
  const entries = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({ request: moduleRequest.value, entries })),
    ...module.staticExports
      .flatMap((statement) => statement.entries)
      .flatMap((entry) =>
        entry.moduleRequest ? [{ request: entry.moduleRequest.value, entries: [entry] }] : [],
      ),
    ...module.dynamicImports.map(({ moduleRequest }) => ({
      request: text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
      entries: [],
    })),
  ];
  return entries
    .filter(
      ({ request, entries }) => request.startsWith('.') && (entries.length === 0 || entries.some(isValue)),
    )
    .map(({ request, entries }) => ({
      file: join(dirname(file), request),
      names: entries.filter(isValue).flatMap((entry) => entry.importName.name ?? []),
    }));
}

function isValue(entry: {
  readonly isType: boolean;
  readonly importName: Pick<ImportName, 'name'>;
}): boolean {
  return !entry.isType;
}
