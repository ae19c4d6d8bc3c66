import type { Plugin } from 'rolldown';

/* Plugins for a command line that starts in little more than an empty process takes. */

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

/** Asks of flags whether they take several values. All letters of Unicode take most of a millisecond to compile. */
const ANY_LETTER = String.raw`/\p{ID_Continue}\.\.\.[>\]]$/u`;

/**
 * An import of Node's own reads all that it exports, and some of it loads half of Node. commander needs little of it:
 * the parts are taken by hand. It starts no processes for us.
 */
export function slimCommander(): Plugin {
  return {
    name: 'slim-commander',
    resolveId(source, importer) {
      const isIts = /\/commander\//.test(importer ?? '');
      return isIts && Object.hasOwn(COMMANDER_BUILTINS, source) ? `\0slim:${source}` : null;
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
 * As above, for the modules of Node that our own files import: `import { createHmac } from 'node:crypto'` would load
 * WebCrypto, which is among its exports.
 */
export function plainBuiltins(): Plugin {
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

/**
 * The bundler's helpers are a file of their own, which makes a `require` whenever it is loaded. A chunk that needs only
 * the one for namespaces gets its own instead.
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

/** Leaves out the file of the entry, which only exports again what its chunk has. */
export function withoutEntry(): Plugin {
  return {
    name: 'without-entry',
    generateBundle(_options, bundle) {
      delete bundle['entry.js'];
    },
  };
}
