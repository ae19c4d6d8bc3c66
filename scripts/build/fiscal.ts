import type { OutputOptions } from 'rolldown';
import { writeBundle } from './output.ts';
import { plainStrings, pureDefinitions, skippableFunctions } from './quick-import.ts';

/*
 * The fiscal library as JavaScript that is quick to import: minified, in the forms that V8 compiles fast, and in one
 * file, since each takes half a millisecond. Inside of one file calls are faster too: what another file imports, V8
 * reads from a cell at each use, which costs a check a sixth of its speed.
 */

/** Modules of the index that need no table of places: a program that only checks codes loads nothing else. */
const CHECKING = ['check', 'check-status', 'check-tax-code'];

const NOTICE =
  "/*! @rtc-service/fiscal, Apache-2.0. Contains data of Ministero dell'Interno - ANPR (CC BY 4.0), ISTAT (CC BY 3.0 IT) and GeoNames (CC BY 4.0), modified; see NOTICE. */";

/** The whole library. */
export async function writeFiscalIndex(dir: string): Promise<void> {
  await writeModules(['index'], { dir });
}

/**
 * The modules of {@link CHECKING} for themselves, with all that they need in `codes.js`. The index has the same once
 * more. Returns their names.
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
    // The minifier's own rewriting drops the marks of purity, and with them a bundler's chance to leave parts out.
    {
      ...output,
      minify: { compress: false, mangle: true, codegen: { removeWhitespace: true } },
      postBanner: NOTICE,
    },
  );
}
