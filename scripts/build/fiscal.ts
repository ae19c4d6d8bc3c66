import type { OutputOptions } from 'rolldown';
import { writeBundle } from './output.ts';
import { plainStrings, pureDefinitions, skippableFunctions } from './quick-import.ts';

/*
 * Bundles the fiscal library so that it is quick to import: minified, in syntax that V8 compiles fast, and in one file,
 * because each file takes half a millisecond. Calls within one file are also faster: V8 reads an import through a cell at
 * each use, which would make a check one sixth slower.
 */

/** Modules of the index that need no table of places. A program that only checks codes loads nothing else. */
const CHECKING = ['check', 'check-status', 'check-tax-code'];

const NOTICE =
  "/*! @rtc-service/fiscal, Apache-2.0. Contains data of Ministero dell'Interno - ANPR (CC BY 4.0), ISTAT (CC BY 3.0 IT) and GeoNames (CC BY 4.0), modified; see NOTICE. */";

/** Writes the whole library. */
export async function writeFiscalIndex(dir: string): Promise<void> {
  await writeModules(['index'], { dir });
}

/**
 * Writes the modules of {@link CHECKING} as separate entries, with everything that they need in `codes.js`. The index has
 * its own copy of them. Returns the names of the modules.
 */
export async function writeCheckingModules(dir: string): Promise<readonly string[]> {
  await writeModules(CHECKING, {
    dir,
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'codes', test: /\.ts$/ }] },
  });
  return CHECKING;
}

async function writeModules(names: readonly string[], output: OutputOptions): Promise<void> {
  await writeBundle(
    {
      input: Object.fromEntries(names.map((name) => [name, `src/fiscal/${name}.ts`])),
      platform: 'neutral',
      plugins: [pureDefinitions(), skippableFunctions(), plainStrings()],
    },
    // The minifier's own rewriting would remove the purity annotations, and a bundler could no longer leave parts out.
    {
      ...output,
      minify: { compress: false, mangle: true, codegen: { removeWhitespace: true } },
      postBanner: NOTICE,
    },
  );
}
