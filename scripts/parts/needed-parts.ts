import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type ImportName, parseSync } from 'oxc-parser';
import type { Part } from './part.ts';

/**
 * Returns the parts that a test file needs: those whose fixtures it imports, directly or through other modules of the
 * project. A test declares its parts by importing, so it cannot forget one.
 */
export async function neededParts(testFile: string, project: Project): Promise<readonly Part[]> {
  const reached = new Set<string>();
  const visited = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (visited.has(file)) return;
    visited.add(file);
    reached.add(relative(project.root, file));
    for (const reference of referencesOf(file, await readFile(file, 'utf8'))) {
      if (!existsSync(reference.file)) continue;
      for (const name of reference.names) reached.add(`${relative(project.root, reference.file)}#${name}`);
      await visit(reference.file);
    }
  };
  await visit(testFile);
  return project.parts.filter((part) => part.fixtures.some((fixture) => reached.has(fixture)));
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

/** Returns the project's own modules that this one loads at run time. Imports of types only are not included. */
function referencesOf(file: string, text: string): readonly Reference[] {
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
