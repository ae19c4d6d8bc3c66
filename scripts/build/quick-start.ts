import type { Plugin } from 'rolldown';

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
export function slimCommander(): Plugin {
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
export function plainBuiltins(): Plugin {
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
export function ownNamespaces(): Plugin {
  const importOfHelper = /\bimport \{ (?:\w+ as )?__exportAll \} from "[^"]*rolldown-runtime[^"]*";/;
  return {
    name: 'own-namespaces',
    renderChunk: (code) => code.replace(importOfHelper, OWN_EXPORT_ALL),
  };
}

const OWN_EXPORT_ALL = `const __exportAll = (getters) => {
  const namespace = {};
  for (const name in getters) Object.defineProperty(namespace, name, { get: getters[name], enumerable: true });
  return namespace;
};`;

/** Removes the file of the entry, which only re-exports its chunk. */
export function withoutEntry(): Plugin {
  return {
    name: 'without-entry',
    generateBundle(_options, bundle) {
      delete bundle['entry.js'];
    },
  };
}
