import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import type { Figure } from './print-figures.ts';
import { ROOT } from './sources.ts';

/*
 * Counts the folders that a reader of an operation passes: from the file in which it begins (a route or a loop) and the
 * files that are injected into it, along every import, except imports of types only. src/contract is not counted, because
 * it has schemas and no logic. The files are named here; a missing file is an error.
 */

type Walk = { readonly what: string; readonly entries: readonly string[]; readonly atMost: number };

const SERVER = 'src/server';

const WALKS: readonly Walk[] = [
  {
    what: "folders passed by a recording's start",
    entries: [`${SERVER}/recordings/room-recording-routes.ts`],
    atMost: 4,
  },
  {
    what: "folders passed by a webhook's delivery",
    entries: [
      `${SERVER}/webhooks/dispatcher/delivery-dispatcher.ts`,
      `${SERVER}/webhooks/sender/webhook-sender.ts`,
    ],
    atMost: 5,
  },
  {
    what: 'folders passed by a spoken segment',
    entries: [`${SERVER}/transcription/live/live-transcriber.ts`],
    atMost: 2,
  },
];

export function measureWalks(): readonly Figure[] {
  return WALKS.map(({ what, entries, atMost }) => ({
    what,
    measured: foldersPassed(entries).length,
    atMost,
    method: 'imports of values from its entry, without src/contract',
  }));
}

function foldersPassed(entries: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const imported of valueImports(path)) visit(imported);
  };
  for (const entry of entries) visit(entry);
  const folders = new Set([...seen].map((path) => dirname(path)));
  return [...folders].filter((folder) => folder !== 'src/contract').toSorted();
}

/** Returns what a file imports or re-exports from our files, except imports of types only. */
function valueImports(path: string): readonly string[] {
  const { module } = parseSync(path, readFileSync(join(ROOT, path), 'utf8'));
  const imported = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value);
  const exported = module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ moduleRequest, isType }) => (isType ? [] : (moduleRequest?.value ?? [])));
  const own = [...imported, ...exported].filter((request) => /^\..*\.ts$/.test(request));
  return own.map((request) => join(dirname(path), request));
}
