import { dirname } from 'node:path';
import { readSourceModules } from '../../test/support/source-modules.ts';
import type { Figure } from './print-figures.ts';
import { ROOT, round } from './sources.ts';

/** These folders are published flat, with one file for each subject. */
const FLAT = ['src/fiscal', 'src/contract'];

export function measureFolders(): readonly Figure[] {
  const modules = readSourceModules(ROOT, ['src']).filter(({ path }) => !path.startsWith('src/fiscal/data/'));
  const files = Map.groupBy(modules, ({ path }) => dirname(path));
  const widths = [...files].filter(([folder]) => !FLAT.includes(folder)).map(([, { length }]) => length);
  const importers = new Map<string, number>(modules.map(({ path }) => [path, 0]));
  for (const { imports } of modules) {
    for (const path of imports) {
      const count = importers.get(path);
      if (count !== undefined) importers.set(path, count + 1);
    }
  }
  const single = [...importers.values()].filter((count) => count === 1).length;
  return [
    {
      what: 'files of the widest folder',
      measured: Math.max(...widths),
      atMost: 22,
      method: 'files directly in a folder of src, src/fiscal and src/contract apart',
    },
    {
      what: 'files with one importer, %',
      measured: round((100 * single) / modules.length, 1),
      atMost: 25,
      method: 'files of src that one other file of src imports, types and dynamic imports included',
    },
  ];
}
