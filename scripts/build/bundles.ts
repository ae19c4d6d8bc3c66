import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { InputOptions, Plugin } from 'rolldown';
import { writeFiscalIndex } from './fiscal.ts';
import { asciiOnly, runTool, writeBundle } from './output.ts';
import { plainStrings, unpackedTables } from './quick-import.ts';
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

/* Plugins for a command line that starts hardly slower than an empty process. */

/** The imports of Node in commander, reduced to what it uses of them. */
const COMMANDER_BUILTINS: Readonly<Record<string, string>> = {
  'node:process': 'export default globalThis.process;',
  'node:child_process': 'export default {};',
  'node:fs': 'export default { existsSync: (path) => process.getBuiltinModule("node:fs").existsSync(path) };',
  'node:path': 'export default process.getBuiltinModule("node:path");',
  'node:events': 'export const { EventEmitter } = process.getBuiltinModule("node:events");',
  'node:util':
    'export const stripVTControlCharacters = (text) => process.getBuiltinModule("node:util").stripVTControlCharacters(text);',
};

/** commander's test whether a flag takes several values. Compiling all letters of Unicode takes most of a millisecond. */
const ANY_LETTER = String.raw`/\p{ID_Continue}\.\.\.[>\]]$/u`;

/**
 * An import of one of Node's own modules reads all of its exports, and some of them load large parts of Node. commander
 * needs few of them: these are imported individually. Its support for starting processes is left out, because we do not use
 * it.
 */
function slimCommander(): Plugin {
  return {
    name: 'slim-commander',
    resolveId(source, importer) {
      const isFromCommander = /\/commander\//.test(importer ?? '');
      return isFromCommander && Object.hasOwn(COMMANDER_BUILTINS, source) ? `\0slim:${source}` : null;
    },
    load: (id) => COMMANDER_BUILTINS[id.replace(/^\0slim:/, '')] ?? null,
    transform(code, id) {
      if (!id.endsWith('/commander/lib/option.js')) return null;
      if (!code.includes(ANY_LETTER)) throw new Error(`commander no longer has ${ANY_LETTER}`);
      return code.replace(ANY_LETTER, String.raw`/\w\.\.\.[>\]]$/`);
    },
  };
}

/**
 * Does the same for the modules of Node that our own files import: `import { createHmac } from 'node:crypto'` would load
 * WebCrypto, which is among its exports.
 */
function plainBuiltins(): Plugin {
  const importOfNode = /\bimport\s*(\w+|\{[^}]*\})\s*from\s*([`"']node:[\w/]+[`"']);?/g;
  return {
    name: 'plain-builtins',
    renderChunk: (code) =>
      code.replace(importOfNode, (_import, names: string, module: string) => {
        const bindings = names.replaceAll(/\s+as\s+/g, ':');
        return `const ${bindings}=globalThis.process.getBuiltinModule(${module});`;
      }),
  };
}

/**
 * The bundler's helpers are a separate file, which creates a `require` function when it is loaded. A chunk that needs only
 * the helper for namespaces gets its own copy instead.
 */
function ownNamespaces(): Plugin {
  const importOfHelper = /\bimport \{ (?:\w+ as )?__exportAll \} from "[^"]*rolldown-runtime[^"]*";/;
  return { name: 'own-namespaces', renderChunk: (code) => code.replace(importOfHelper, OWN_EXPORT_ALL) };
}

const OWN_EXPORT_ALL = `const __exportAll = (getters) => {
  const namespace = {};
  for (const name in getters) Object.defineProperty(namespace, name, { get: getters[name], enumerable: true });
  return namespace;
};`;

/** Removes the file of the entry, which only re-exports its chunk. */
function withoutEntry(): Plugin {
  return {
    name: 'without-entry',
    generateBundle(_options, bundle) {
      delete bundle['entry.js'];
    },
  };
}

/** Native or optional packages, which are looked up at run time. */
const OUTSIDE_THE_SERVICE = [
  /^@livekit\/rtc-node/,
  /^sherpa-onnx/,
  /^pg-native$/,
  /^pg-cloudflare$/,
  /^pino-pretty$/,
];

/**
 * Bundles the service with its packages. With a dozen files to load, it starts in half the time and needs three quarters of
 * the memory.
 */
export function buildServer(out: string): Promise<readonly string[]> {
  return writeBundle(
    {
      input: {
        main: 'src/server/main.ts',
        dev: 'src/server/dev.ts',
        worker: 'src/server/worker.ts',
        'room-audio': 'src/server/room-audio.ts',
        'room-client': 'src/server/room-client.ts',
        stt: 'src/server/stt.ts',
        admin: 'src/server/admin.ts',
      },
      platform: 'node',
      external: OUTSIDE_THE_SERVICE,
      plugins: [sharedUndici(), unpackedTables(), asciiOnly()],
    },
    { dir: `${out}/server` },
  );
}

/** Packages of a library stay outside of its bundle. node: and npm names do not start with a dot or a slash. */
const isPackage = (id: string): boolean => !id.startsWith('.') && !id.startsWith('/');

/** Bundles the libraries. They contain only our own modules. */
export async function buildLibraries(out: string): Promise<readonly string[]> {
  for (const name of ['client', 'contract']) {
    // One bundle at a time, because a shared chunk would make the client load what only the contract needs.
    await writeBundle(
      {
        input: { index: `src/${name}/index.ts` },
        platform: name === 'contract' ? 'node' : 'neutral',
        external: isPackage,
      },
      { dir: `${out}/${name}` },
    );
  }
  await writeFiscalIndex(`${out}/fiscal`);
  return [];
}

/** Writes the declarations of the libraries to dist/types. */
export async function writeDeclarations(out: string): Promise<readonly string[]> {
  const types = `${out}/types`;
  await runTool('tsc', ['--project', 'scripts/build/tsconfig.declarations.json', '--outDir', types]);
  // tsc rewrites `./x.ts` in JavaScript but not in declarations, where the compilers of users would refuse it.
  for (const file of await readdir(types, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const text = await readFile(`${types}/${file}`, 'utf8');
    await writeFile(`${types}/${file}`, text.replace(/((?:from|import\() ?'\.[^']*)\.ts'/g, "$1.js'"));
  }
  return [];
}
