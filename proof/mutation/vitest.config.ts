import { join } from 'node:path';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';
import { apply, type Mutant } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');
const { MUTANT = '' } = process.env;
const mutant: Mutant | undefined = MUTANT === '' ? undefined : JSON.parse(MUTANT);

/** Runs the tests with one file changed. The variable MUTANT names it, as JSON. */
export default defineConfig(
  mergeConfig(base, {
    root,
    // The cache of transformed modules would not notice the mutant.
    test: { maxWorkers: 1, fsModuleCache: false },
    plugins: [
      {
        name: 'mutant',
        enforce: 'pre',
        transform: (code: string, id: string) =>
          mutant !== undefined && id === join(root, mutant.file)
            ? { code: apply(code, mutant), map: null }
            : undefined,
      },
    ],
  }),
);
