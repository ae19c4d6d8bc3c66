import type { InputOptions } from 'rolldown';
import { asciiOnly, writeBundle } from './output.ts';
import { plainStrings, unpackedTables } from './quick-import.ts';
import { ownNamespaces, plainBuiltins, slimCommander, withoutEntry } from './quick-start.ts';
import { sharedUndici } from './undici.ts';

/** Bundles the command line, minified and in few files, because people wait for its start. */
export function buildCli(out: string): Promise<readonly string[]> {
  const input: InputOptions = {
    input: { entry: 'src/cli/main.ts' },
    platform: 'node',
    plugins: [
      sharedUndici(),
      slimCommander(),
      plainBuiltins(),
      ownNamespaces(),
      unpackedTables(),
      plainStrings(),
      asciiOnly(),
      withoutEntry(),
    ],
    // An unused import of node:http would load Node's own undici, so unused imports must be removed.
    treeshake: {
      moduleSideEffects: [
        { external: true, sideEffects: false },
        // Our modules have no side effects when they are imported; a test of the architecture checks this.
        { test: /\/src\//, sideEffects: false },
        { test: /./, sideEffects: true },
      ],
    },
  };
  return writeBundle(input, {
    dir: `${out}/cli`,
    minify: true,
    codeSplitting: { groups: [...GROUPS] },
    // The launcher imports from the chunk itself.
    minifyInternalExports: false,
    chunkFileNames: ({ name }) => (name === 'main' ? 'main.js' : 'chunks/[name]-[hash].js'),
  });
}

/**
 * Each additional file takes half a millisecond to load. Therefore one file has what every command loads, a second one has
 * `cf check`, and a third one has what the commands of the service share.
 */
const GROUPS = [
  {
    name: 'main',
    test: /\/src\/cli\/(main|registry|framework\/run-command|framework\/help\/root-help|framework\/parsing\/leading-options|terminal\/(colours|result)|errors\/cli-error)\.ts$/,
    priority: 2,
  },
  // commander is only needed for commands with options.
  { name: 'options', test: /\/src\/cli\/framework\/parsing\/program\.ts$/, priority: 1 },
  { name: 'manifest', test: /\/package\.json$/, priority: 3 },
  { name: 'cf', test: /\/src\/cli\/commands\/cf\/commands\.ts$/, priority: 0 },
  {
    name: 'service',
    test: /\/src\/(client\/|contract\/|cli\/connection\/|cli\/errors\/|cli\/framework\/(for-each-target|report-error|watch-list)\.ts$)/,
    priority: 0,
  },
] as const;
