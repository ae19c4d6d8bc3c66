import type { InputOptions } from 'rolldown';
import { asciiOnly, writeBundle } from './output.ts';
import { plainStrings } from './quick-import.ts';
import { ownNamespaces, plainBuiltins, slimCommander, withoutEntry } from './quick-start.ts';
import { sharedUndici } from './undici.ts';

/** The command line, minified and in few files: its start-up time is what people wait for. */
export function buildCli(out: string): Promise<readonly string[]> {
  const input: InputOptions = {
    input: { entry: 'src/cli/main.ts' },
    platform: 'node',
    plugins: [
      sharedUndici(),
      slimCommander(),
      plainBuiltins(),
      ownNamespaces(),
      plainStrings(),
      asciiOnly(),
      withoutEntry(),
    ],
    // An import of node:http only for its names would load Node's own undici: unused ones must go.
    treeshake: {
      moduleSideEffects: [
        { external: true, sideEffects: false },
        // An import of ours does nothing but define things, which a test of the house holds.
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
 * Each file of its own takes half a millisecond: what every command loads is in one, `cf check` in a second, and what
 * commands of the service share in a third.
 */
const GROUPS = [
  {
    name: 'main',
    test: /\/src\/cli\/(main|registry|framework\/run-command|framework\/help\/root-help|framework\/parsing\/leading-options|terminal\/(colours|result)|errors\/cli-error)\.ts$/,
    priority: 2,
  },
  // commander, for command lines with options.
  { name: 'options', test: /\/src\/cli\/framework\/parsing\/program\.ts$/, priority: 1 },
  { name: 'manifest', test: /\/package\.json$/, priority: 3 },
  { name: 'cf', test: /\/src\/cli\/commands\/cf\/commands\.ts$/, priority: 0 },
  {
    name: 'service',
    test: /\/src\/(client\/|contract\/|cli\/connection\/|cli\/errors\/|cli\/framework\/(for-each-target|report-error|watch-list)\.ts$)/,
    priority: 0,
  },
] as const;
