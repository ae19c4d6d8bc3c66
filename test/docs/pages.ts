import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

const EXAMPLES = readdirSync(join(ROOT, 'examples')).map((name) => join('examples', name));

/** The documentation pages, by their path from the root of the repository. */
export const PAGES: readonly string[] = [
  ...[
    '',
    'docs',
    'docs/proof',
    'clients',
    'clients/python',
    'clients/go',
    'scripts/pack',
    'src/server/schema',
  ],
  ...EXAMPLES,
]
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => join(folder, name)))
  .filter((path) => path.endsWith('.md'));
