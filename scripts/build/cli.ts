import type { InputOptions, Plugin } from 'rolldown';
import { writeBundle } from './output.ts';
import { plainStrings } from './quick-import.ts';
import { sharedUndici } from './undici.ts';

/** The command line, minified and in few files: its start-up time is what people wait for. */
export function buildCli(out: string): Promise<readonly string[]> {
  const input: InputOptions = {
    input: { main: 'src/cli/main.ts' },
    platform: 'node',
    plugins: [sharedUndici(), slimCommander(), plainBuiltins(), plainStrings()],
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
  return writeBundle(input, { dir: `${out}/cli`, minify: true, codeSplitting: { groups: [...GROUPS] } });
}

/**
 * Each file of its own takes half a millisecond: what every command loads is in two, `cf check` in a third, and what
 * commands of the service share in a fourth. */
const GROUPS = [
  {
    name: 'start',
    test: /\/src\/cli\/(registry|framework\/help\/root-help|framework\/leading-options|terminal\/colours|errors\/cli-error)\.ts$/,
    priority: 2,
  },
  { name: 'manifest', test: /\/package\.json$/, priority: 3 },
  { name: 'cf', test: /\/src\/cli\/commands\/cf\/commands\.ts$/, priority: 0 },
  {
    name: 'service',
    test: /\/src\/(client\/|contract\/|cli\/connection\/|cli\/errors\/|cli\/framework\/(for-each-target|report-error|watch-list)\.ts$)/,
    priority: 0,
  },
  { name: 'run', test: /\/src\/cli\/(framework\/run-command|terminal\/result)\.ts$/, priority: 1 },
] as const;

/** commander's imports of Node, reduced to what it uses of them. */
const COMMANDER_BUILTINS: Readonly<Record<string, string>> = {
  'node:process': 'export default globalThis.process;',
  'node:child_process': 'export default {};',
  'node:fs': 'export default { existsSync: (path) => process.getBuiltinModule("node:fs").existsSync(path) };',
  'node:path': 'export default process.getBuiltinModule("node:path");',
  'node:events': 'export const { EventEmitter } = process.getBuiltinModule("node:events");',
  'node:util':
    'export const stripVTControlCharacters = (text) => process.getBuiltinModule("node:util").stripVTControlCharacters(text);',
};

/**
 * An import of Node's own reads all that it exports, and some of it loads half of Node. commander needs little of it:
 * the parts are taken by hand. It starts no processes for us.
 */
function slimCommander(): Plugin {
  return {
    name: 'slim-commander',
    resolveId(source, importer) {
      const isIts = /\/commander\//.test(importer ?? '');
      return isIts && Object.hasOwn(COMMANDER_BUILTINS, source) ? `\0slim:${source}` : null;
    },
    load: (id) => COMMANDER_BUILTINS[id.replace(/^\0slim:/, '')] ?? null,
  };
}

/**
 * As above, for the modules of Node that our own files import: `import { createHmac } from 'node:crypto'` would load
 * WebCrypto, which is among its exports.
 */
function plainBuiltins(): Plugin {
  const importOfNode = /\bimport\s*(\w+|\{[^}]*\})\s*from\s*([`"']node:[\w/]+[`"']);?/g;
  return {
    name: 'plain-builtins',
    renderChunk: (code) =>
      code.replace(importOfNode, (_import, names: string, module: string) => {
        const taken = names.replaceAll(/\s+as\s+/g, ':');
        return `const ${taken}=globalThis.process.getBuiltinModule(${module});`;
      }),
  };
}
